import { createServer, type ServerResponse } from 'node:http';
import { RobotsClient } from '../../src/index.ts';

/**
 * What a service is held against: `node:http` with a fixed answer (`/fixed?length`), and with the least that tells a
 * decision (`/peek?url`). In a process of its own.
 */
const client = new RobotsClient();
const send = (response: ServerResponse, body: string): void => {
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
};
const bodies = new Map<string, string>();
const server = createServer((request, response) => {
  const [path, query = ''] = (request.url ?? '').split('?');
  if (path === '/fixed') {
    const body = bodies.get(query) ?? 'x'.repeat(Number(query));
    bodies.set(query, body);
    return send(response, body);
  }
  const url = decodeURIComponent(query);
  const decision = client.peek(url);
  if (decision !== undefined) return send(response, JSON.stringify(decision));
  void client.check(url).then((checked) => send(response, JSON.stringify(checked)));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.once('disconnect', () => process.exit());
