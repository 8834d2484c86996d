import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request's fate: the answer is lost or cut in half; the request is limited; the proxy is down. */
export type Fate = 'lose' | 'half' | 'limited' | 'later' | 'down' | 'pass';

export interface Trouble {
  readonly url: string;
  close(): Promise<void>;
}

/** `POST /plan` sets the fates of the next requests, later ones pass; `GET /plan` returns how many came since. */
export async function openTrouble(gateway: string): Promise<Trouble> {
  let plan: Fate[] = [];
  let came = 0;
  const sockets = new Set<Socket>();
  const server = createServer(async (req, res) => {
    const { method = '', url = '', headers } = req;
    const body = Buffer.concat(await req.toArray());
    if (url === '/plan') {
      if (method === 'GET') return res.end(JSON.stringify(came));
      plan = JSON.parse(body.toString()) as Fate[]; // the programs beside this send it
      came = 0;
      return res.end();
    }
    came += 1;
    const fate = plan.shift() ?? 'pass';
    if (fate === 'down') return res.writeHead(503, { 'Content-Type': 'text/html' }).end('<h1>Service Unavailable</h1>');
    if (fate === 'limited' || fate === 'later') {
      const type = 'application/problem+json';
      return res.writeHead(429, { 'Content-Type': type, 'Retry-After': fate === 'later' ? 999 : 1 }).end(LIMITED);
    }
    const { authorization = '', 'content-type': type, 'idempotency-key': key } = headers;
    const answer = await fetch(gateway + url, {
      method,
      headers: {
        authorization,
        ...(type !== undefined && { 'content-type': type }),
        ...(key !== undefined && { 'idempotency-key': String(key) }),
      },
      ...(body.length > 0 && { body }),
    });
    const text = Buffer.from(await answer.arrayBuffer());
    if (fate === 'lose') return req.socket.destroy();
    res.writeHead(answer.status, {
      'Content-Type': answer.headers.get('content-type') ?? '',
      'Content-Length': text.length,
      ...(answer.headers.has('retry-after') && { 'Retry-After': answer.headers.get('retry-after') ?? '' }),
    });
    if (fate === 'pass') return res.end(text);
    return res.write(text.subarray(0, text.length / 2), () => req.socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const LIMITED = JSON.stringify({
  ...{ type: '/errors/rate_limited', title: 'Too many requests', status: 429, detail: 'Later.', code: 'rate_limited' },
  ...{ status_code: '4290', errors: [], request_id: 'req_1', retryable: true },
});
