import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../shared/platform/runtime/log.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { ChatTemplateRequestDocument } from '../../shared/templates/chat/template-request.ts';
import { AccountRun, type AccountRunDeps } from './account-run.ts';
import type { HeldPartition } from './held-partition.ts';
import { probeStopped } from './probe.ts';
import { ProviderClient } from './provider/client.ts';
import type { News } from './send-health.ts';

export interface AccountRunsOptions extends Omit<AccountRunDeps, 'onClaim'> {
  readonly box: SecretBox;
}

/** A provider as it was read from the store. When its version changes, its account gets a new run. */
export interface KnownProvider {
  readonly provider: ProviderDocument;
  readonly version: string;
}

/** The accounts that this process serves. Opens and closes runs as providers and partitions come, change and go. */
export class AccountRuns {
  readonly #options: AccountRunsOptions;
  readonly #open = new Map<AccountId, AccountRun>();
  /**
   * A closing run is waited for before the account gets a new one. Otherwise both could send to one customer at the
   * same time.
   */
  readonly #closing = new Map<AccountId, { readonly run: AccountRun; readonly closed: Promise<void> }>();
  /** The times of probes that were made, so that each is made once. */
  readonly #probed = new Map<AccountId, number>();
  /** Versions whose token cannot be decrypted, so that each is logged once. */
  readonly #unreadable = new Map<AccountId, string>();
  #claimed = 0;

  constructor(options: AccountRunsOptions) {
    this.#options = options;
  }

  /** Messages claimed since the start. */
  get claimed(): number {
    return this.#claimed;
  }

  get inFlight(): number {
    return this.#runs().reduce((sum, [, { sends }]) => sum + sends.inFlight, 0);
  }

  /** Accounts whose provider fails. */
  get broken(): number {
    return this.#runs().filter(([, { sends }]) => sends.broken).length;
  }

  /** Whether an account waits for its last run to end before another one is opened. */
  get closing(): boolean {
    return this.#closing.size > 0;
  }

  /** Whether there is unsettled work for an account for which `fits` is true. */
  hasInHand(fits: (account: AccountId) => boolean): boolean {
    return this.#runs().some(([account, { sends }]) => sends.inHand > 0 && fits(account));
  }

  /** Call it when there is something to send. */
  wake(account: AccountId): void {
    this.#open.get(account)?.sends.wake();
  }

  /** Hands what accounts want of their templates to their runs. */
  askForTemplates(requests: readonly ChatTemplateRequestDocument[]): void {
    for (const [account, run] of this.#open) {
      const own = requests.filter((request) => request.account === account);
      if (own.length > 0) run.templateRequests.work(own);
    }
  }

  /** Call it when a status has said what became of a message. Tells the account's run, which may have sent it. */
  async noteNews(message: ChatMessageDocument, news: News, code?: string): Promise<void> {
    await this.#open.get(message.account)?.sends.noteNews(message, news, code);
  }

  /** Call it when a callback has said something of an account's templates that only their list has completely. */
  copyTemplates(account: AccountId): void {
    this.#open.get(account)?.copyTemplates();
  }

  /** Opens and closes runs until each active provider whose partition is held has one. */
  update(
    known: ReadonlyMap<AccountId, KnownProvider>,
    partitionOf: (account: AccountId) => HeldPartition | undefined,
  ): void {
    for (const [account, run] of this.#open) {
      const same = known.get(account)?.version === run.version && partitionOf(account) === run.partition;
      if (!same) this.#close(account, run);
    }
    for (const [account, { provider, version }] of known) {
      const partition = partitionOf(account);
      if (partition === undefined || provider.status !== 'active' || this.#open.has(account)) continue;
      if (!this.#closing.has(account)) this.#openRun(provider, version, partition);
    }
  }

  /** Asks providers that are stopped, and may be again, whether the cause is gone: when that is due, of partitions that are held. */
  probe(
    known: ReadonlyMap<AccountId, KnownProvider>,
    partitionOf: (account: AccountId) => HeldPartition | undefined,
  ): void {
    const { clock, log } = this.#options;
    const now = clock.now();
    for (const [account, { provider, version }] of known) {
      const { stoppedReason, probe } = provider;
      if (stoppedReason === undefined || probe === undefined || probe.at > now) continue;
      // What became of it is read seconds later: then there is another time, or none.
      if (partitionOf(account) === undefined || this.#probed.get(account) === probe.at.getTime()) continue;
      const token = this.#tokenOf(provider, version);
      if (token === undefined) continue;
      this.#probed.set(account, probe.at.getTime());
      const client = new ProviderClient({ provider, token });
      void probeStopped(this.#options, provider, client)
        .catch((error: unknown) => {
          this.#probed.delete(account);
          log.warn('provider_not_probed', { account, ...errorFields(error) });
        })
        .finally(() => client.close());
    }
  }

  /** Claims nothing more. Resolves when all claimed messages are settled. */
  async drain(): Promise<void> {
    for (const [account, run] of this.#open) this.#close(account, run);
    await Promise.all([...this.#closing.values()].map(({ closed }) => closed));
  }

  /** Cuts off the requests in flight. Their messages are then unknown. */
  cutOff(): void {
    for (const { run } of this.#closing.values()) run.cutOff();
  }

  #openRun(provider: ProviderDocument, version: string, partition: HeldPartition): void {
    const token = this.#tokenOf(provider, version);
    if (token === undefined) return;
    const onClaim = (count: number): void => {
      this.#claimed += count;
    };
    const run = new AccountRun({ ...this.#options, onClaim }, { provider, version, token, partition });
    this.#open.set(provider._id, run);
    run.start();
  }

  #tokenOf({ _id: account, token }: ProviderDocument, version: string): string | undefined {
    if (this.#unreadable.get(account) === version) return undefined;
    try {
      return this.#options.box.open(token, ['providers', account, 'token']);
    } catch (error) {
      this.#unreadable.set(account, version);
      this.#options.log.error('provider_token_unreadable', { account, ...errorFields(error) });
      return undefined;
    }
  }

  #close(account: AccountId, run: AccountRun): void {
    this.#open.delete(account);
    const closed = run.close().then(() => void this.#closing.delete(account));
    this.#closing.set(account, { run, closed });
  }

  #runs(): readonly (readonly [AccountId, AccountRun])[] {
    return [...this.#open, ...[...this.#closing].map(([account, { run }]) => [account, run] as const)];
  }
}
