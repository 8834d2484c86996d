import type { Db } from 'mongodb';
import { delayMail, dueMails, endMail, type MailDocument } from '../../shared/people/mails.ts';
import { linkUrl } from '../../shared/people/users/user.ts';
import { type Config, publicUrl } from '../../shared/platform/config/settings.ts';
import { Lease } from '../../shared/platform/leases/lease.ts';
import { type AppDeps, openSecretBox } from '../../shared/platform/processes/run-app.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { Metrics } from '../../shared/platform/runtime/metrics.ts';
import { type Found, PollLoop } from '../../shared/platform/runtime/poll-loop.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import { render } from './render.ts';
import { type MailConfig, MailServer, mailMisconfigured, type SendResult, senderDomain } from './server.ts';

export interface MailWorkerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly box: SecretBox;
  readonly config: MailConfig & Pick<Config, 'publicUrl' | 'host' | 'port'>;
}

const ROUND_MS = 2_000;
const GROUP = 20;
const MINUTE_MS = 60_000;
/** The pauses after temporary refusals; the last one repeats until the mail is of no use any more. */
const RETRY_MINUTES = [1, 5, 15, 60, 240] as const;
/** The pause after trouble with the server, which doubles. Nothing is tried meanwhile. */
const TROUBLE_MS = 15_000;
const TROUBLE_MAX_MS = 5 * MINUTE_MS;

/** Sends one mail after the other, under the lease `mail`. A crash may send one again, with the same `Message-ID`. */
export class MailWorker {
  readonly #options: MailWorkerOptions;
  readonly #server: MailServer;
  readonly #lease: Lease;
  readonly #loop: PollLoop;
  readonly #ended: ReturnType<Metrics['counter']>;
  #troubles = 0;
  #notBeforeMs = 0;
  #stopping = false;

  constructor(options: MailWorkerOptions) {
    this.#options = options;
    const { db, clock, log, metrics, config } = options;
    this.#server = new MailServer(config);
    this.#lease = new Lease({ name: 'mail', db, clock });
    this.#loop = new PollLoop({ name: 'mail', idleMs: ROUND_MS, log, work: () => this.#round() });
    this.#ended = metrics.counter('mails_total', 'Mails that were sent or given up', ['state']);
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#loop.stop();
    this.#server.close();
    await this.#lease.release();
  }

  async #round(): Promise<Found> {
    if (this.#lease.due) await this.#lease.keep();
    const { db, clock } = this.#options;
    if (!this.#lease.held || clock.monotonicMs() < this.#notBeforeMs) return 'idle';
    const due = await dueMails(db, clock.now(), GROUP);
    for (const mail of due) {
      if (this.#stopping || !this.#lease.held || clock.monotonicMs() < this.#notBeforeMs) return 'idle';
      await this.#deliver(mail);
      if (this.#lease.due) await this.#lease.keep();
    }
    return due.length === GROUP ? 'more' : 'idle';
  }

  async #deliver(mail: MailDocument): Promise<void> {
    const { db, clock } = this.#options;
    const now = clock.now();
    if (mail.until <= now) return this.#end(mail, { state: 'expired' });
    const result = await this.#send(mail);
    if (result.kind === 'taken') crashPoint('mail:taken');
    const failedAt = clock.now();
    if (result.kind === 'trouble') {
      this.#rest(result.words);
      // This mail might be the cause: the others go before it.
      return delayMail(db, mail._id, { due: failedAt, error: result.words, failedAt, counts: false });
    }
    this.#troubles = 0;
    if (result.kind === 'taken') return this.#end(mail, { state: 'sent' });
    if (result.forGood) return this.#end(mail, { state: 'failed', error: result.words, failedAt });
    const minutes = RETRY_MINUTES[mail.tries] ?? RETRY_MINUTES.at(-1) ?? 1;
    const due = new Date(failedAt.getTime() + minutes * MINUTE_MS);
    return delayMail(db, mail._id, { due, error: result.words, failedAt, counts: true });
  }

  async #send(mail: MailDocument): Promise<SendResult> {
    const { config, box } = this.#options;
    let link: string | undefined;
    if (mail.sealed !== undefined) {
      try {
        link = linkUrl(config, box.open(mail.sealed, ['mails', mail._id, 'sealed']));
      } catch {
        return { kind: 'refused', forGood: true, words: 'The link cannot be read any more: make a new one.' };
      }
    }
    const messageId = `<${mail._id}@${senderDomain(config.mailFrom)}>`;
    return this.#server.send({ messageId, to: mail.to, ...render(mail, `${publicUrl(config)}/dashboard`, link) });
  }

  async #end(mail: MailDocument, ended: Pick<MailDocument, 'state' | 'error' | 'failedAt'>): Promise<void> {
    const { state, error } = ended;
    await endMail(this.#options.db, mail._id, ended);
    this.#ended.inc({ state }, 1);
    const told = { mail: mail._id, kind: mail.kind, user_id: mail.user };
    if (state === 'failed') this.#options.log.warn('mail_refused', { ...told, reason: error });
    else this.#options.log.info(`mail_${state}`, told);
  }

  #rest(reason: string): void {
    const pauseMs = Math.min(TROUBLE_MS * 2 ** this.#troubles, TROUBLE_MAX_MS);
    this.#troubles += 1;
    this.#notBeforeMs = this.#options.clock.monotonicMs() + pauseMs;
    this.#options.log.warn('mail_server_trouble', { in_a_row: this.#troubles, pause_s: pauseMs / 1_000, reason });
  }
}

/** Without a mail server nothing runs: mails wait in the store until they expire. */
export async function startMail(deps: AppDeps): Promise<void> {
  const { config, db, log, life } = deps;
  if (config.smtpHost === '') return;
  const wrong = mailMisconfigured(config);
  if (wrong !== undefined) {
    log.error('mail_misconfigured', { what_to_do: wrong });
    return;
  }
  const worker = new MailWorker({ ...deps, box: await openSecretBox(config, db) });
  worker.start();
  life.onStop('worker', () => worker.stop());
}
