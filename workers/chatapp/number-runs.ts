import type { Db } from 'mongodb';
import { optedInOf } from '../../shared/carriers/chat-opt-in-store.ts';
import type { Exchange } from '../../shared/carriers/http/client.ts';
import { endsByItself, objectOf, parseObject } from '../../shared/carriers/providers/graph-error.ts';
import type { ProviderDocument, ProviderDuty } from '../../shared/carriers/providers/provider.ts';
import {
  endTrial,
  noteTrouble,
  putOffProbe,
  resumeProvider,
  stopProvider,
  tryProvider,
} from '../../shared/carriers/providers/store.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import type { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import { readPersons } from '../../shared/money/conversations/person.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId, MessageId } from '../../shared/platform/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';
import type { ChatTemplateRequestDocument, TemplateOwner } from '../../shared/templates/chat/chat-template.ts';
import { noteChatTemplate, noteHeldBack, replaceChatTemplates } from '../../shared/templates/chat/store.ts';
import { type AccountWork, ChatClaimer } from './claim.ts';
import type { Customers } from './customers.ts';
import type { Departure } from './depart.ts';
import type { HeaderSamples } from './header-samples.ts';
import type { HeldPartition } from './held-partition.ts';
import type { ChatMetrics } from './metrics.ts';
import { ProviderClient } from './provider/client.ts';
import type { AccountFailure, News } from './send-health.ts';
import { SendLoop, type SendLoopOptions } from './send-loop.ts';
import { TemplateRequests } from './template-requests.ts';
import { TemplatesSync } from './templates-sync.ts';

export interface NumberRunsOptions extends Omit<NumberRunDeps, 'onClaim' | 'copyTemplates'> {
  readonly box: SecretBox;
}

/** When its version changes, the number gets a new run. */
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
  /** A number gets a new run only after its closing run: both could send to one customer at the same time. */
  readonly #closing = new Map<BusinessNumber, { readonly run: NumberRun; readonly closed: Promise<void> }>();
  /** The times of probes that were made, so that each is made once. */
  readonly #probed = new Map<BusinessNumber, number>();
  /** Versions whose token cannot be decrypted, so that each is logged once. */
  readonly #unreadable = new Map<BusinessNumber, string>();
  #claimed = 0;

  constructor(options: NumberRunsOptions) {
    this.#options = options;
  }

  get claimed(): number {
    return this.#claimed;
  }

  get inFlight(): number {
    return this.#runs().reduce((sum, { sends }) => sum + sends.inFlight, 0);
  }

  get broken(): number {
    return this.#runs().filter(({ sends }) => sends.broken).length;
  }

  get closing(): boolean {
    return this.#closing.size > 0;
  }

  hasInHand(fits: (account: AccountId) => boolean): boolean {
    return this.#runs().some(({ sends, owner }) => sends.inHand > 0 && fits(owner.account));
  }

  wake({ account, numbers }: AccountWork): void {
    if (numbers === 'any') {
      for (const run of this.#open.values()) if (run.owner.account === account) run.sends.wake();
    } else for (const number of numbers) this.#open.get(number)?.sends.wake();
  }

  askForTemplates(requests: readonly ChatTemplateRequestDocument[]): void {
    for (const { templates, owner } of this.#open.values()) {
      const own = templates === undefined ? [] : requests.filter((request) => isOwnedBy(request, owner));
      if (own.length > 0) templates?.requests.work(own);
    }
  }

  async noteStatus(message: ChatMessageDocument, news: News, failure?: AccountFailure): Promise<void> {
    await this.#open.get(message.from)?.sends.noteStatus(message, news, failure);
  }

  copyTemplates(owner: TemplateOwner): void {
    for (const run of this.#open.values()) if (isOwnedBy(owner, run.owner)) run.templates?.sync.soon();
  }

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

  /** Asks stopped numbers of held partitions whose probe is due whether the cause is gone. */
  probe(
    known: ReadonlyMap<BusinessNumber, KnownNumber>,
    partitionOf: (account: AccountId) => HeldPartition | undefined,
  ): void {
    const { clock, log } = this.#options;
    const now = clock.now();
    for (const [number, { provider, version }] of known) {
      const { account, stoppedReason, probe } = provider;
      if (stoppedReason === undefined || probe === undefined || probe.at > now) continue;
      // The result is read seconds later: then there is another time, or none.
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

export interface NumberRunDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  readonly gates: ClaimGates;
  readonly samples: HeaderSamples;
  readonly customers: Customers;
  readonly depart: SendLoopOptions['depart'];
  readonly onClaim: SendLoopOptions['onClaim'];
  readonly copyTemplates: (owner: TemplateOwner) => void;
  random(): number;
}

export interface NumberRunOptions {
  readonly provider: ProviderDocument;
  /** Version of the provider's settings. Other settings need a new run. */
  readonly version: string;
  readonly token: string;
  /** All business ids of the account, if this run copies templates and asks for them; otherwise undefined. */
  readonly businesses: readonly string[] | undefined;
  readonly partition: HeldPartition;
}

/** One number with one version of its settings. It may also have the duty of its business account's templates. */
class NumberRun {
  readonly version: string;
  readonly partition: HeldPartition;
  readonly sends: SendLoop;
  readonly #deps: NumberRunDeps;
  readonly #provider: ProviderDocument;
  readonly #client: ProviderClient;
  /** Undefined when another number of the business account has this duty. */
  readonly templates: { readonly sync: TemplatesSync; readonly requests: TemplateRequests } | undefined;
  #closed = false;

  constructor(deps: NumberRunDeps, { provider, version, token, businesses, partition }: NumberRunOptions) {
    this.#deps = deps;
    this.#provider = provider;
    this.version = version;
    this.partition = partition;
    this.#client = new ProviderClient({ provider, token });
    this.sends = this.#sendLoop();
    this.templates = businesses === undefined ? undefined : this.#templateDuties(businesses);
  }

  start(): void {
    this.templates?.sync.start();
    this.sends.wake();
  }

  /** Starts nothing new. Resolves when everything that was sent is settled. */
  async close(): Promise<void> {
    this.#closed = true;
    this.sends.close();
    this.templates?.sync.close();
    this.templates?.requests.close();
    await Promise.all([this.sends.drained(), this.templates?.requests.ended()]);
    this.#client.close();
  }

  cutOff(): void {
    this.#client.close();
  }

  #templateDuties(businesses: readonly string[]): NonNullable<NumberRun['templates']> {
    const { db } = this.#deps;
    const owner = this.owner;
    const sync = new TemplatesSync({
      ...this.#deps,
      owner,
      client: this.#client,
      replace: (templates, begunAt) => replaceChatTemplates(db, owner, templates, begunAt, businesses),
      note: (reason) => this.#note('templates', reason),
    });
    const requests = new TemplateRequests({
      ...this.#deps,
      client: this.#client,
      held: () => this.partition.held(),
      noted: this.#provider.troubles?.requests !== undefined,
      note: (reason) => this.#note('requests', reason),
      copyTemplates: () => sync.soon(),
    });
    return { sync, requests };
  }

  get owner(): TemplateOwner {
    const { account, businessId: business } = this.#provider;
    return { account, business };
  }

  #sendLoop(): SendLoop {
    const { db, clock, gates, depart, copyTemplates } = this.#deps;
    const { _id: number, account } = this.#provider;
    const { lease, epoch, outcomes, held, lost } = this.partition;
    return new SendLoop({
      ...this.#deps,
      provider: this.#provider,
      client: this.#client,
      claimer: new ChatClaimer({ db, clock, account, number, lease, epoch }),
      outcomes,
      held,
      lost,
      mayLeave: async () => {
        await gates.refresh();
        return !gates.held.has(account);
      },
      depart: async (messages) => {
        const refused = await refusedByOptIn(db, this.#provider, messages);
        const others = messages.filter(({ _id }) => !refused.has(_id));
        return new Map([...refused, ...(await depart(others))]);
      },
      stopChannel: (reason, code) => this.#stopChannel(reason, code),
      endTrial: () => endTrial(db, number),
      markTemplate: (message, status) => markTemplateOf(db, this.owner, message, status, clock.now()),
      noteHeldBack: ({ content }, word) =>
        content.kind === 'template'
          ? noteHeldBack(db, this.owner, content.name, content.language, { word, at: clock.now() })
          : Promise.resolve(),
      copyTemplates: () => copyTemplates(this.owner),
      note: (reason) => this.#note('sends', reason),
      noteHealth: (reason) => this.#note('statuses', reason),
    });
  }

  /** A closed run stops no channel: a send from before the settings were changed says nothing about the new ones. */
  async #stopChannel(reason: string, code: string): Promise<void> {
    const { db, log, metrics } = this.#deps;
    const { _id: number, account } = this.#provider;
    if (this.#closed || !(await stopProvider(db, number, `${code}: ${reason}`, this.#probeOf(code)))) return;
    metrics.stops.inc({ code });
    log.error('provider_stopped', { account, number, code });
  }

  #probeOf(code: string): ProviderDocument['probe'] {
    return endsByItself(code) ? nextProbe(this.#deps.clock.now(), this.#provider.trial?.tries ?? 0) : undefined;
  }

  async #note(duty: ProviderDuty, reason: string | undefined): Promise<void> {
    const { db, clock } = this.#deps;
    if (this.#closed) return;
    await noteTrouble(db, this.#provider._id, duty, reason === undefined ? undefined : { at: clock.now(), reason });
  }
}

/** Keeps the template state that the provider's answer to a send named, until the list is copied again. */
async function markTemplateOf(
  db: Db,
  owner: TemplateOwner,
  { content }: ChatMessageDocument,
  status: string,
  now: Date,
): Promise<void> {
  if (content.kind !== 'template') return;
  await noteChatTemplate(db, owner, content.name, content.language, { status }, now);
}

const NOT_OPTED_IN: Departure = {
  kind: 'refuse',
  code: 'recipient_not_opted_in',
  reason: 'The customer was not on the opt-in list any more when the message could leave.',
};

/** Refuses templates to customers who are not (or no more) on the opt-in list, if the settings demand one. */
async function refusedByOptIn(
  db: Db,
  { account, optIn }: Pick<ProviderDocument, 'account' | 'optIn'>,
  messages: readonly ChatMessageDocument[],
): Promise<ReadonlyMap<MessageId, Departure>> {
  const templates = optIn === 'list' ? messages.filter(({ content }) => content.kind === 'template') : [];
  if (templates.length === 0) return new Map();
  const optedIn = await optedInOf(
    db,
    account,
    templates.map(({ to }) => to),
    (customers) => readPersons(db, account, customers),
  );
  return new Map(templates.flatMap(({ _id, to }) => (optedIn.has(to) ? [] : [[_id, NOT_OPTED_IN]])));
}

/** A minute after the stop, then after twice as long each time. */
const FIRST_MS = 60_000;
const LONGEST_MS = 15 * 60_000;

/** `tries`: how often the cause was found not to be gone. */
function nextProbe(now: Date, tries: number): NonNullable<ProviderDocument['probe']> {
  const pauseMs = Math.min(FIRST_MS * 2 ** Math.min(tries, 16), LONGEST_MS);
  return { at: new Date(now.getTime() + pauseMs), tries: tries + 1 };
}

/** Whether the provider says that the number may send (Graph API, "health status"); `silent`: it does not say. Pure. */
function judgeHealth(exchange: Exchange): 'blocked' | 'may_send' | 'silent' {
  if (exchange.kind !== 'answered') return 'blocked';
  const { can_send_message: may } = objectOf(parseObject(exchange.body)?.health_status) ?? {};
  if (may === 'BLOCKED') return 'blocked';
  return may === 'AVAILABLE' || may === 'LIMITED' ? 'may_send' : 'silent';
}

/** Asks whether the cause of a stop is gone. If the provider does not say, one message is tried. */
async function probeStopped(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log },
  provider: ProviderDocument,
  client: Pick<ProviderClient, 'number'>,
): Promise<void> {
  const { _id: number, account, probe } = provider;
  const health = judgeHealth(await client.number('health_status'));
  log.info('provider_probed', { account, number, health });
  if (health === 'blocked') await putOffProbe(db, number, nextProbe(clock.now(), probe?.tries ?? 0));
  else if (health === 'may_send') await resumeProvider(db, number);
  else await tryProvider(db, provider);
}
