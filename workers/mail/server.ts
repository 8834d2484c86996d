import { createTransport } from 'nodemailer';
import type { Config } from '../../shared/platform/config/settings.ts';

export type MailConfig = Pick<Config, 'smtpHost' | 'smtpPort' | 'smtpTls' | 'smtpUser' | 'smtpPassword' | 'mailFrom'>;

export interface Outgoing {
  readonly messageId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** `refused`: this mail, by the server. `trouble`: the server could not be used at all, so that other mails need not be tried now. */
export type SendResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly forGood: boolean; readonly words: string }
  | { readonly kind: 'trouble'; readonly words: string };

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** What servers say is shown to operators; addresses in it are left out. */
const WORDS_MAX = 200;
const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** Why no mail can be sent with these settings; undefined when it can. */
export function mailMisconfigured({ smtpHost, smtpTls, smtpPassword, mailFrom }: MailConfig): string | undefined {
  if (mailFrom === '') return 'HARKARA_MAIL_FROM is missing: set the sender of mails.';
  if (senderDomain(mailFrom) === undefined)
    return 'HARKARA_MAIL_FROM must have an address, such as no-reply@sms.example.com.';
  if (smtpTls === 'none' && smtpPassword !== '' && !LOOPBACK.test(smtpHost)) {
    return 'HARKARA_SMTP_TLS=none would send HARKARA_SMTP_PASSWORD in the clear: use starttls or tls.';
  }
  return undefined;
}

/** The host in the sender's address. */
export function senderDomain(from: string): string | undefined {
  return /@([a-z0-9.-]+)>?\s*$/i.exec(from)?.[1];
}

/** The mail server of the installation. Its connections are kept for some seconds. */
export class MailServer {
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #from: string;

  constructor({ smtpHost, smtpPort, smtpTls, smtpUser, smtpPassword, mailFrom }: MailConfig) {
    this.#from = mailFrom;
    this.#transport = createTransport({
      host: smtpHost,
      port: smtpPort,
      secure: smtpTls === 'tls',
      requireTLS: smtpTls === 'starttls',
      ignoreTLS: smtpTls === 'none',
      ...(smtpUser !== '' && { auth: { user: smtpUser, pass: smtpPassword } }),
      pool: true,
      maxConnections: 1,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async send(mail: Outgoing): Promise<SendResult> {
    try {
      await this.#transport.sendMail({
        ...mail,
        from: this.#from,
        // Nobody's out-of-office note answers it.
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      return { kind: 'taken' };
    } catch (error) {
      return resultOf(error);
    }
  }

  close(): void {
    this.#transport.close();
  }
}

/** What a failed send means. The library tells by `code` what it was doing, and by `responseCode` what the server answered. */
function resultOf(error: unknown): SendResult {
  const { code, command, responseCode, response, message } = error as {
    readonly code?: string;
    readonly command?: string;
    readonly responseCode?: number;
    readonly response?: string;
    readonly message?: string;
  };
  const words = (response ?? message ?? String(error)).replaceAll(/<?\S+@\S+>?/g, '…').slice(0, WORDS_MAX);
  // A server that does not like our sender likes no mail of ours.
  const isOfMail = (code === 'EENVELOPE' && command !== 'MAIL FROM') || code === 'EMESSAGE';
  if (!isOfMail || responseCode === undefined || responseCode === 421) return { kind: 'trouble', words };
  return { kind: 'refused', forGood: responseCode >= 500, words };
}
