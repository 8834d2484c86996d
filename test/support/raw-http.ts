import { connect } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Everything received on the connection. */
  readonly bytes: string;
}

/** Sends bytes that no HTTP client would, waits until the server closes, and reads the first answer. */
export async function rawRequest(port: number, pieces: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const bytes = await new Promise<string>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('close', () => resolve(Buffer.concat(received).toString('utf8')));
    socket.on('error', (error) => {
      // The server may reset after its answer; a reset without an answer is an error.
      if (received.length === 0) reject(error);
    });
    for (const piece of pieces) socket.write(piece);
  });
  return parseAnswer(bytes);
}

export function parseAnswer(bytes: string): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = bytes.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body: bytes.slice(end + 4), bytes };
}
