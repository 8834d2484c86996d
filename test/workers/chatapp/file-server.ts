import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(2_000_000, 1)]);
export const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');
export const MP4 = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypmp42'), Buffer.alloc(1_000)]);

export interface FileServer {
  readonly url: string;
  readonly asked: readonly string[];
  close(): void;
}

const MB = 1_048_576;

/** A customer's server with good and bad files for template headers. `/cut-once.png` cuts its first connection. */
export async function openFiles(): Promise<FileServer> {
  const asked: string[] = [];
  const answers: Readonly<Record<string, RequestListener>> = {
    '/good.png': (_, response) => response.end(PNG),
    '/good.pdf': (_, response) => response.end(PDF),
    '/good.mp4': (_, response) => response.end(MP4),
    '/no-extension': (_, response) => response.end(PNG),
    '/page.png': (_, response) => response.end('<html>'),
    '/moved.png': (_, response) => response.writeHead(302, { location: '/good.png' }).end(),
    '/long.png': (_, response) => response.writeHead(200, { 'content-length': 5 * MB + 1 }).end(),
    '/endless.png': (_, response) => {
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', more);
      more();
    },
    '/busy.png': (_, response) => response.writeHead(503).end(),
    '/cut-once.png': ({ socket }, response) => {
      if (asked.filter((path) => path === '/cut-once.png').length === 1) socket.destroy();
      else response.end(PNG);
    },
    '/hangs.png': () => {},
  };
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = answers[request.url ?? ''];
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
