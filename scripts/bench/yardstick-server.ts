import { createServer } from 'node:http';

/** A bare JSON server; its CPU per request measures the machine's current speed. */
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
