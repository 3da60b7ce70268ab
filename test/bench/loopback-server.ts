import { createServer } from 'node:http';
import { benchFiles } from './files.ts';

/** Every address of 127.0.0.0/8 is an origin of its own at this server's port. In a process of its own, not measured. */
const ROBOTS = 'User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n';
/** With `real-files` each address has a file of its own. */
const files = process.argv[2] === 'real-files' ? benchFiles().files : [];
const server = createServer((request, response) => {
  const [, , high, low] = String(request.socket.localAddress).split('.');
  const file = files[(Number(high) << 8) | Number(low)];
  response.writeHead(200, { 'content-type': 'text/plain' }).end(file?.bytes ?? ROBOTS);
});
server.listen(0, '0.0.0.0', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.once('disconnect', () => process.exit());
