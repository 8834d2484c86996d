import type { Db } from 'mongodb';
import { type Mailbox, type MailboxOptions, startMailbox } from '../../scripts/simulator/mailbox.ts';
import type { MailDocument } from '../../shared/people/mails.ts';
import { type Clock, systemClock } from '../../shared/platform/runtime/clock.ts';
import { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { MailWorker } from '../../workers/mail/worker.ts';
import { TEST_BOX } from './chatapp.ts';
import { eventually } from './eventually.ts';
import { silentLog } from './silent-log.ts';

/** A mailbox, and the worker that sends a store's mails to it. */
export class MailWorld {
  readonly #db: Db;
  readonly mailbox: Mailbox;
  #worker: MailWorker | undefined;

  static async open(db: Db, options: MailboxOptions = {}): Promise<MailWorld> {
    return new MailWorld(db, await startMailbox(options));
  }

  private constructor(db: Db, mailbox: Mailbox) {
    this.#db = db;
    this.mailbox = mailbox;
  }

  start({
    clock = systemClock,
    port = this.mailbox.port,
    user = '',
    password = '',
  }: {
    readonly clock?: Clock;
    readonly port?: number;
    readonly user?: string;
    readonly password?: string;
  } = {}): void {
    this.#worker = new MailWorker({
      ...{ db: this.#db, clock, log: silentLog, metrics: new Metrics(), box: TEST_BOX },
      config: {
        ...{ smtpHost: '127.0.0.1', smtpPort: port, smtpTls: 'none', smtpUser: user, smtpPassword: password },
        ...{ mailFrom: 'Harkara <no-reply@sms.example.com>', publicUrl: 'https://sms.example.com' },
        ...{ host: '127.0.0.1', port: 0 },
      },
    });
    this.#worker.start();
  }

  /** Oldest first. */
  stored(): Promise<MailDocument[]> {
    return this.#db.collection<MailDocument>('mails').find().sort({ at: 1, _id: 1 }).toArray();
  }

  ended(state: MailDocument['state']): Promise<MailDocument> {
    return eventually(async () => {
      const [mail] = await this.stored();
      if (mail?.state !== state) throw new Error(`the mail is ${mail?.state}: ${mail?.error}`);
      return mail;
    }, `a mail that is ${state}`);
  }

  async stop(): Promise<void> {
    await this.#worker?.stop();
    this.#worker = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.mailbox.close();
  }
}
