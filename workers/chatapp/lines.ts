import type { Db } from 'mongodb';
import { markChatTemplate, replaceChatTemplates } from '../../shared/chat-templates/store.ts';
import type { ClaimGates } from '../../shared/claim/claim-gates.ts';
import type { ChatMessageDocument } from '../../shared/messages/chat-message.ts';
import type { ProviderDocument, ProviderDuty } from '../../shared/providers/provider.ts';
import { noteTrouble, stopProvider } from '../../shared/providers/store.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import { AccountLine, type AccountLineOptions } from './account-line.ts';
import { ChatClaimer } from './claim.ts';
import type { Figures } from './figures.ts';
import { ProviderClient } from './provider/client.ts';
import type { ShareDuty } from './share-duty.ts';
import { TemplatesSync } from './templates-sync.ts';

export interface LinesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: Figures;
  readonly box: SecretBox;
  readonly gates: ClaimGates;
  random(): number;
  readonly depart: AccountLineOptions['depart'];
}

/** A provider as it was read; another version means another line. */
export interface Known {
  readonly provider: ProviderDocument;
  readonly version: string;
}

interface Open {
  readonly line: AccountLine;
  readonly sync: TemplatesSync;
  readonly client: ProviderClient;
  readonly duty: ShareDuty;
  readonly version: string;
}

/** The lines of the accounts that this process serves: opened and closed as providers and shares come, change and go. */
export class Lines {
  readonly #options: LinesOptions;
  readonly #open = new Map<AccountId, Open>();
  /** What was sent is waited for; only then may the account have a new line, or two would write to one customer at once. */
  readonly #closing = new Map<AccountId, Open>();
  /** Versions whose token cannot be opened: said once. */
  readonly #unreadable = new Map<AccountId, string>();
  #claimed = 0;

  constructor(options: LinesOptions) {
    this.#options = options;
  }

  /** Messages that were ever claimed. */
  get claimed(): number {
    return this.#claimed;
  }

  /** Messages in hand of the accounts that fit. */
  inHand(fits: (account: AccountId) => boolean): number {
    return this.#sum(({ line }) => line.inHand, fits);
  }

  get inFlight(): number {
    return this.#sum(({ line }) => line.inFlight);
  }

  /** Accounts whose provider fails. */
  get broken(): number {
    return this.#sum(({ line }) => (line.broken ? 1 : 0));
  }

  /** There is something to send; whether the account has a line. */
  wake(account: AccountId): boolean {
    const open = this.#open.get(account);
    open?.line.wake();
    return open !== undefined;
  }

  /** Makes the lines fit: one for each active provider of `served` that has a duty. */
  update(known: ReadonlyMap<AccountId, Known>, dutyOf: (account: AccountId) => ShareDuty | undefined): void {
    for (const [account, open] of this.#open) {
      const now = known.get(account);
      if (now?.version === open.version && dutyOf(account) === open.duty) continue;
      this.#close(account, open);
    }
    for (const [account, { provider, version }] of known) {
      const duty = dutyOf(account);
      if (duty === undefined || provider.status !== 'active' || this.#open.has(account)) continue;
      if (!this.#closing.has(account)) this.#openLine(provider, version, duty);
    }
  }

  /** Claims nothing more; resolves when all that is in hand is settled. */
  async drain(): Promise<void> {
    for (const [account, open] of this.#open) this.#close(account, open);
    await Promise.all([...this.#closing.values()].map(({ line }) => line.drained()));
  }

  /** Cuts off what is in flight: it ends now, as unknown. */
  cutOff(): void {
    for (const { client } of this.#closing.values()) client.close();
  }

  #openLine(provider: ProviderDocument, version: string, duty: ShareDuty): void {
    const { db, clock, log, figures, box, gates, random, depart } = this.#options;
    const account = provider._id;
    if (this.#unreadable.get(account) === version) return;
    let token: string;
    try {
      token = box.open(provider.token);
    } catch (error) {
      this.#unreadable.set(account, version);
      log.error('provider_token_unreadable', { account, ...errorFields(error) });
      return;
    }
    const client = new ProviderClient({ provider, token });
    const line = new AccountLine({
      provider,
      client,
      claimer: new ChatClaimer({ db, clock, account, lease: duty.lease, epoch: duty.epoch }),
      outcomes: duty.outcomes,
      clock,
      log,
      figures,
      random,
      held: duty.held,
      mayLeave: async () => {
        await gates.refresh();
        return !gates.held.has(account);
      },
      depart,
      onClaim: (count) => {
        this.#claimed += count;
      },
      stopChannel: async (reason, code) => {
        // What is told by a send that began before the settings were changed says nothing of the new ones.
        if (this.#open.get(account)?.line !== line) return;
        if (!(await stopProvider(db, account, `${code}: ${reason}`))) return;
        figures.stops.inc({ code });
        log.error('provider_stopped', { account, code });
      },
      markTemplate: (message, status) => markTemplateOf(db, message, status),
      note: (reason) => note('sends', reason),
    });
    const note = async (duty: ProviderDuty, reason: string | undefined): Promise<void> => {
      // As above.
      if (this.#open.get(account)?.line !== line) return;
      await noteTrouble(db, account, duty, reason === undefined ? undefined : { at: clock.now(), reason });
    };
    const sync = new TemplatesSync({
      account,
      client,
      clock,
      log,
      figures,
      random,
      replace: (templates) => replaceChatTemplates(db, account, templates),
      note: (reason) => note('templates', reason),
    });
    this.#open.set(account, { line, sync, client, duty, version });
    sync.start();
    line.wake();
  }

  #close(account: AccountId, open: Open): void {
    this.#open.delete(account);
    this.#closing.set(account, open);
    open.line.close();
    open.sync.close();
    void open.line.drained().then(() => {
      open.client.close();
      this.#closing.delete(account);
    });
  }

  #sum(of: (open: Open) => number, fits: (account: AccountId) => boolean = () => true): number {
    let sum = 0;
    for (const lines of [this.#open, this.#closing]) {
      for (const [account, open] of lines) if (fits(account)) sum += of(open);
    }
    return sum;
  }
}

/** The template that a message was to be made of is what the provider says, until the list is copied again. */
export async function markTemplateOf(db: Db, { account, content }: ChatMessageDocument, status: string): Promise<void> {
  if (content.kind === 'template') await markChatTemplate(db, account, content.name, content.language, status);
}
