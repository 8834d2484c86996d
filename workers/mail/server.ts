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

/** `refused`: this mail, by the server. `trouble`: the server cannot be used, so no other mail is tried now. */
export type SendResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly forGood: boolean; readonly words: string }
  | { readonly kind: 'trouble'; readonly words: string };

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Servers' words are shown to operators, without the addresses in them. */
const WORDS_MAX = 200;
const LOOPBACK = /^(127\.|localhost$|::1$)/;

/** Undefined when mails can be sent with these settings. */
export function mailMisconfigured({ smtpHost, smtpTls, smtpPassword, mailFrom }: MailConfig): string | undefined {
  if (mailFrom === '') return 'HARKARA_MAIL_FROM is missing: set the sender of mails.';
  if (senderDomain(mailFrom) === undefined)
    return 'HARKARA_MAIL_FROM must have an address, such as no-reply@sms.example.com.';
  if (smtpTls === 'none' && smtpPassword !== '' && !LOOPBACK.test(smtpHost)) {
    return 'HARKARA_SMTP_TLS=none would send HARKARA_SMTP_PASSWORD in the clear: use starttls or tls.';
  }
  return undefined;
}

export function senderDomain(from: string): string | undefined {
  return /@([a-z0-9.-]+)>?\s*$/i.exec(from)?.[1];
}

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
        // So that no out-of-office note answers.
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

/** `code` tells what nodemailer was doing, `responseCode` what the server answered. */
function resultOf(error: unknown): SendResult {
  const { code, command, responseCode, response, message } = error as {
    readonly code?: string;
    readonly command?: string;
    readonly responseCode?: number;
    readonly response?: string;
    readonly message?: string;
  };
  const words = (response ?? message ?? String(error)).replaceAll(/<?\S+@\S+>?/g, '…').slice(0, WORDS_MAX);
  // A server that refuses our sender refuses all our mails.
  const isOfMail = (code === 'EENVELOPE' && command !== 'MAIL FROM') || code === 'EMESSAGE';
  if (!isOfMail || responseCode === undefined || responseCode === 421) return { kind: 'trouble', words };
  return { kind: 'refused', forGood: responseCode >= 500, words };
}
