import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly at: number;
  readonly from: string;
  readonly to: readonly string[];
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface MailboxOptions {
  /** TCP port on 127.0.0.1. Default 0: the system chooses a free one. */
  readonly port?: number;
  /** The answer that refuses a recipient, such as `{ code: 450, words: 'later' }`. */
  readonly refuse?: (to: string) => { readonly code: number; readonly words: string } | undefined;
  /** The only user that may sign in. Absent: nobody has to. */
  readonly user?: { readonly name: string; readonly password: string };
  readonly onMail?: ((mail: ReceivedMail) => void) | undefined;
}

export interface Mailbox {
  readonly port: number;
  /** Oldest first. */
  mails(): readonly ReceivedMail[];
  close(): Promise<void>;
}

const KEPT = 200;
const OCTETS_MAX = 1_000_000;

/** A mail server on 127.0.0.1 that accepts every mail and passes none on. */
export async function startMailbox({ port = 0, refuse, user, onMail }: MailboxOptions = {}): Promise<Mailbox> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: user === undefined,
    allowInsecureAuth: true,
    size: OCTETS_MAX,
    logger: false,
    onAuth({ username, password }, _session, done) {
      if (username === user?.name && password === user?.password) done(null, { user: username });
      else done(new Error('Wrong name or password'));
    },
    onRcptTo({ address }, _session, done) {
      const refusal = refuse?.(address);
      done(refusal && Object.assign(new Error(refusal.words), { responseCode: refusal.code }));
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('end', () => {
        PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
          const received: ReceivedMail = {
            at: Date.now(),
            from: mail.from?.address ?? '',
            to: envelope.rcptTo.map(({ address }) => address),
            messageId: mail.messageId ?? '',
            subject: mail.subject ?? '',
            text: mail.text ?? '',
            html: mail.html ?? '',
          };
          mails.push(received);
          if (mails.length > KEPT) mails.shift();
          onMail?.(received);
          done();
        }, done);
      });
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  // Clients that break off do not matter.
  server.on('error', () => {});
  return {
    port: (server.server.address() as AddressInfo).port, // it listens on a port
    mails: () => mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
