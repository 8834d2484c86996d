import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A message that reached the provider, whatever it answered. */
export interface Send {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** The customer's number, which must have a plus sign: otherwise it would get the business's country code (India). */
  readonly to: string;
  /** `biz_opaque_callback_data` */
  readonly ours: string;
  readonly atMs: number;
  /** The id of the acceptance. */
  wamid?: string;
}

/** The answer to a send. Default: `accept`. */
export type Answer = (send: Send, res: ServerResponse, accept: () => void) => void;

/** In the Cloud API's shapes, written from its documentation alone. Tests check its log of sends. */
export interface ProviderServer {
  readonly url: string;
  readonly sends: readonly Send[];
  readonly lists: readonly string[];
  answer: Answer;
  /** Answers requests for the templates, in place of `pages`. */
  listAnswer: ((res: ServerResponse) => void) | undefined;
  /** How often the account's number was requested, and whether it answers that. */
  readonly numberAsked: number;
  answersNumber: boolean;
  /** `health_status`. Undefined: it does not know the field. */
  health: string | undefined;
  /** Pages of the list of templates. */
  pages: readonly (readonly object[])[];
  /** The most simultaneous sends. */
  readonly mostOpen: number;
  close(): Promise<void>;
}

export async function openProvider(answer: Answer = (_, __, accept) => accept()): Promise<ProviderServer> {
  const sends: Send[] = [];
  const lists: string[] = [];
  const sockets = new Set<Socket>();
  let open = 0;
  let mostOpen = 0;
  let count = 0;
  let numberAsked = 0;

  const server = createServer((req, res) => {
    if (req.method === 'GET' && req.url?.endsWith('?fields=id') === true) {
      numberAsked += 1;
      if (provider.answersNumber) json(res, 200, { id: req.url.replace(/^.*\/(\d+)\?.*$/, '$1') });
      return;
    }
    if (req.method === 'GET' && req.url?.endsWith('?fields=health_status') === true) {
      if (provider.health === undefined) json(res, 400, graphError(100));
      else json(res, 200, { health_status: { can_send_message: provider.health } });
      return;
    }
    if (req.method === 'GET') {
      lists.push(req.url ?? '');
      if (provider.listAnswer === undefined) listTemplates(req, res);
      else provider.listAnswer(res);
      return;
    }
    mostOpen = Math.max(mostOpen, ++open);
    res.on('close', () => open--);
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
      const send: Send = {
        path: req.url ?? '',
        headers: req.headers,
        body,
        to: String(body.to).startsWith('+') ? String(body.to).slice(1) : `91${body.to}`,
        ours: String(body.biz_opaque_callback_data),
        atMs: performance.now(),
      };
      sends.push(send);
      provider.answer(send, res, () => {
        send.wamid = `wamid.${++count}`;
        json(res, 200, {
          messaging_product: 'whatsapp',
          contacts: [{ input: body.to, wa_id: send.to }],
          messages: [{ id: send.wamid, message_status: 'accepted' }],
        });
      });
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  function listTemplates(req: IncomingMessage, res: ServerResponse): void {
    const { searchParams } = new URL(req.url ?? '', 'http://provider');
    const page = Number(searchParams.get('after') ?? 0);
    const more = page + 1 < provider.pages.length;
    json(res, 200, {
      data: provider.pages[page] ?? [],
      paging: {
        cursors: { before: String(page), after: String(page + 1) },
        ...(more ? { next: 'http://127.0.0.1:9/elsewhere' } : {}),
      },
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  const provider: ProviderServer = {
    url: `http://127.0.0.1:${port}/v23.0`,
    sends,
    lists,
    answer,
    listAnswer: undefined,
    answersNumber: true,
    health: undefined,
    get numberAsked() {
      return numberAsked;
    },
    pages: [],
    get mostOpen() {
      return mostOpen;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return provider;
}

export function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function graphError(code: number, details = 'in detail', more: object = {}): object {
  return {
    error: {
      message: `(#${code}) in short`,
      type: 'OAuthException',
      code,
      error_data: { messaging_product: 'whatsapp', details },
      fbtrace_id: 'A1',
      ...more,
    },
  };
}
