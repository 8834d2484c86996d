import { createServer } from 'node:http';

/** The simplest JSON server of Node. Its cost per request shows how fast the machine is at the moment. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { to }: { to?: unknown } = JSON.parse(Buffer.concat(chunks).toString());
    const body = JSON.stringify({ to });
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
