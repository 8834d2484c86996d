import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../shared/platform/runtime/log.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { ChatTemplateRequestDocument, TemplateOwner } from '../../shared/templates/chat/chat-template.ts';
import type { AccountWork } from './claim.ts';
import type { HeldPartition } from './held-partition.ts';
import { NumberRun, type NumberRunDeps, probeStopped } from './number-run.ts';
import { ProviderClient } from './provider/client.ts';
import type { AccountFailure, News } from './send-health.ts';

export interface NumberRunsOptions extends Omit<NumberRunDeps, 'onClaim' | 'copyTemplates'> {
  readonly box: SecretBox;
}

/** A number as it was read from the store. When its version changes, it gets a new run. */
export interface KnownNumber {
  readonly provider: ProviderDocument;
  /** See `NumberRunOptions`. */
  readonly businesses: readonly string[] | undefined;
  readonly version: string;
}

/** The numbers that this process serves. Opens and closes runs as numbers and partitions come, change and go. */
export class NumberRuns {
  readonly #options: NumberRunsOptions;
  readonly #open = new Map<BusinessNumber, NumberRun>();
  /**
   * A closing run is waited for before the number gets a new one. Otherwise both could send to one customer at the
   * same time.
   */
  readonly #closing = new Map<BusinessNumber, { readonly run: NumberRun; readonly closed: Promise<void> }>();
  /** The times of probes that were made, so that each is made once. */
  readonly #probed = new Map<BusinessNumber, number>();
  /** Versions whose token cannot be decrypted, so that each is logged once. */
  readonly #unreadable = new Map<BusinessNumber, string>();
  #claimed = 0;

  constructor(options: NumberRunsOptions) {
    this.#options = options;
  }

  /** Messages claimed since the start. */
  get claimed(): number {
    return this.#claimed;
  }

  get inFlight(): number {
    return this.#runs().reduce((sum, { sends }) => sum + sends.inFlight, 0);
  }

  /** Numbers whose provider fails. */
  get broken(): number {
    return this.#runs().filter(({ sends }) => sends.broken).length;
  }

  /** Whether a number waits for its last run to end before another one is opened. */
  get closing(): boolean {
    return this.#closing.size > 0;
  }

  /** Whether there is unsettled work for an account for which `fits` is true. */
  hasInHand(fits: (account: AccountId) => boolean): boolean {
    return this.#runs().some(({ sends, owner }) => sends.inHand > 0 && fits(owner.account));
  }

  /** Call it when there is something to send. */
  wake({ account, numbers }: AccountWork): void {
    if (numbers === 'any') {
      for (const run of this.#open.values()) if (run.owner.account === account) run.sends.wake();
    } else for (const number of numbers) this.#open.get(number)?.sends.wake();
  }

  /** Hands what accounts want of their templates to the runs that have this duty. */
  askForTemplates(requests: readonly ChatTemplateRequestDocument[]): void {
    for (const { templates, owner } of this.#open.values()) {
      const own = templates === undefined ? [] : requests.filter((request) => isOwnedBy(request, owner));
      if (own.length > 0) templates?.requests.work(own);
    }
  }

  /** Call it when a status has said what became of a message. Tells the number's run, which may have sent it. */
  async noteStatus(message: ChatMessageDocument, news: News, failure?: AccountFailure): Promise<void> {
    await this.#open.get(message.from)?.sends.noteStatus(message, news, failure);
  }

  /** Call it when something has said of templates what only the provider's list has completely. */
  copyTemplates(owner: TemplateOwner): void {
    for (const run of this.#open.values()) if (isOwnedBy(owner, run.owner)) run.templates?.sync.soon();
  }

  /** Call it when a status of a message has said something of its template. */
  copyTemplatesOf({ from }: ChatMessageDocument): void {
    const run = this.#open.get(from);
    if (run !== undefined) this.copyTemplates(run.owner);
  }

  /** Opens and closes runs until each active number whose partition is held has one. */
  update(
    known: ReadonlyMap<BusinessNumber, KnownNumber>,
    partitionOf: (account: AccountId) => HeldPartition | undefined,
  ): void {
    for (const [number, run] of this.#open) {
      const same = known.get(number)?.version === run.version && partitionOf(run.owner.account) === run.partition;
      if (!same) this.#close(number, run);
    }
    for (const [number, one] of known) {
      const partition = partitionOf(one.provider.account);
      if (partition === undefined || one.provider.status !== 'active' || this.#open.has(number)) continue;
      if (!this.#closing.has(number)) this.#openRun(one, partition);
    }
  }

  /** Asks about numbers that are stopped, and may be again, whether the cause is gone: when that is due, of partitions that are held. */
  probe(
    known: ReadonlyMap<BusinessNumber, KnownNumber>,
    partitionOf: (account: AccountId) => HeldPartition | undefined,
  ): void {
    const { clock, log } = this.#options;
    const now = clock.now();
    for (const [number, { provider, version }] of known) {
      const { account, stoppedReason, probe } = provider;
      if (stoppedReason === undefined || probe === undefined || probe.at > now) continue;
      // What became of it is read seconds later: then there is another time, or none.
      if (partitionOf(account) === undefined || this.#probed.get(number) === probe.at.getTime()) continue;
      const token = this.#tokenOf(provider, version);
      if (token === undefined) continue;
      this.#probed.set(number, probe.at.getTime());
      const client = new ProviderClient({ provider, token });
      void probeStopped(this.#options, provider, client)
        .catch((error: unknown) => {
          this.#probed.delete(number);
          log.warn('provider_not_probed', { account, number, ...errorFields(error) });
        })
        .finally(() => client.close());
    }
  }

  /** Claims nothing more. Resolves when all claimed messages are settled. */
  async drain(): Promise<void> {
    for (const [number, run] of this.#open) this.#close(number, run);
    await Promise.all([...this.#closing.values()].map(({ closed }) => closed));
  }

  /** Cuts off the requests in flight. Their messages are then unknown. */
  cutOff(): void {
    for (const { run } of this.#closing.values()) run.cutOff();
  }

  #openRun({ provider, businesses, version }: KnownNumber, partition: HeldPartition): void {
    const token = this.#tokenOf(provider, version);
    if (token === undefined) return;
    const onClaim = (count: number): void => {
      this.#claimed += count;
    };
    const copyTemplates = (owner: TemplateOwner): void => this.copyTemplates(owner);
    const options = { provider, businesses, version, token, partition };
    const run = new NumberRun({ ...this.#options, onClaim, copyTemplates }, options);
    this.#open.set(provider._id, run);
    run.start();
  }

  #tokenOf({ _id: number, account, token }: ProviderDocument, version: string): string | undefined {
    if (this.#unreadable.get(number) === version) return undefined;
    try {
      return this.#options.box.open(token, ['providers', number, 'token']);
    } catch (error) {
      this.#unreadable.set(number, version);
      this.#options.log.error('provider_token_unreadable', { account, number, ...errorFields(error) });
      return undefined;
    }
  }

  #close(number: BusinessNumber, run: NumberRun): void {
    this.#open.delete(number);
    const closed = run.close().then(() => void this.#closing.delete(number));
    this.#closing.set(number, { run, closed });
  }

  #runs(): readonly NumberRun[] {
    return [...this.#open.values(), ...[...this.#closing.values()].map(({ run }) => run)];
  }
}

function isOwnedBy(a: TemplateOwner, b: TemplateOwner): boolean {
  return a.account === b.account && a.business === b.business;
}
