import { createServer } from 'node:http';

/** Every address of 127.0.0.0/8 is an origin of its own at this server's port. In a process of its own, not measured. */
const ROBOTS = 'User-agent: *\nDisallow: /private\nDisallow: /*.pdf$\n';
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' }).end(ROBOTS);
});
server.listen(0, '0.0.0.0', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' && address !== null ? address.port : 0);
});
process.once('disconnect', () => process.exit());
