import { get, type IncomingMessage } from 'node:http';

export interface StreamEvent {
  readonly name: string;
  readonly data: unknown;
}

/** An open stream of server-sent events. */
export interface EventStream {
  readonly response: IncomingMessage;
  readonly events: readonly StreamEvent[];
  /** Comment lines. */
  readonly beats: number;
  readonly text: string;
  readonly ended: boolean;
  close(): void;
}

/** Opens a stream with a key, or with a browser's headers. Rejects if the answer is no stream. */
export function openStream(url: string, as: string | Readonly<Record<string, string>>): Promise<EventStream> {
  const headers = typeof as === 'string' ? { Authorization: `Bearer ${as}` } : as;
  return new Promise((resolve, reject) => {
    const asked = get(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        reject(new Error(`answered ${response.statusCode}`));
        return;
      }
      let text = '';
      let ended = false;
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('close', () => {
        ended = true;
      });
      response.on('error', () => {}); // a reset shows as `ended`
      resolve({
        response,
        close: () => asked.destroy(),
        get events() {
          return eventsIn(text);
        },
        get beats() {
          return text.split('\n').filter((line) => line.startsWith(':')).length;
        },
        get text() {
          return text;
        },
        get ended() {
          return ended;
        },
      });
    });
    asked.on('error', reject);
  });
}

function eventsIn(text: string): StreamEvent[] {
  return [...text.matchAll(/^event: (.+)\ndata: (.+)\n\n/gm)].map(([, name = '', data = '']) => ({
    name,
    data: JSON.parse(data),
  }));
}
