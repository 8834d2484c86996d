import { createConnection } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { endedBind } from '../bind-report.ts';
import type { CarrierDocument } from '../carrier.ts';
import { tlsOptions } from '../smpp/socket.ts';
import type { Step } from '../smpp/trial.ts';

const TIMEOUT_MS = 10_000;

/** `code`: of the system's error, or our own (bind-report.ts). */
export type Connected = { readonly certificateUntil?: Date } | { readonly code: string };

/** Connects and closes without a request. Calls `done` once, unless the returned function is called before. */
export function tryConnection(
  { host, port, tls, trust }: Pick<CarrierDocument, 'host' | 'port' | 'tls' | 'trust'>,
  done: (connected: Connected) => void,
): () => void {
  const socket = tls ? connectTls({ host, port, ...tlsOptions(host, trust) }) : createConnection({ host, port });
  const cancel = (): void => {
    socket.removeAllListeners().on('error', () => {});
    socket.destroy();
  };
  const end = (connected: Connected): void => {
    cancel();
    done(connected);
  };
  socket.setTimeout(TIMEOUT_MS, () => end({ code: socket.connecting ? 'connect_timeout' : 'tls_timeout' }));
  socket.once('error', (error) => end({ code: 'code' in error ? String(error.code) : error.message }));
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    const until = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : undefined;
    end(until === undefined ? {} : { certificateUntil: new Date(until) });
  });
  return cancel;
}

export async function connectionStep(carrier: Parameters<typeof tryConnection>[0]): Promise<Step> {
  const connected = await new Promise<Connected>((resolve) => tryConnection(carrier, resolve));
  if ('code' in connected) {
    const { code, reason } = endedBind('unreachable', connected.code);
    return { ok: false, words: `connection: ${reason} (${code}). Check host, port and TLS` };
  }
  const { certificateUntil: until } = connected;
  const told = until === undefined ? '' : `; its certificate is valid until ${until.toISOString()}`;
  return { ok: true, words: `connection: made${told}. Only a message shows whether the carrier lets us in` };
}
