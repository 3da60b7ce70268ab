import { createServer } from 'node:http';

/** A site of one page. In a process of its own, not measured. */
const PAGE = Buffer.from('<!doctype html><title>page</title>'.repeat(60));
const server = createServer((request, response) => {
  if (request.url === '/robots.txt') response.end('User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n');
  else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.once('disconnect', () => process.exit());
