import type { Db } from 'mongodb';
import type { Change } from '../../../shared/messages/change.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { isAccessRefused, isStoreTrouble } from '../../../shared/mongo/errors.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { Grouper } from '../../../shared/runtime/grouper.ts';
import type { MessageId } from '../../../shared/runtime/ids.ts';
import { LeaseLostError } from '../../../shared/settlement/intents.ts';
import type { MessageLog } from '../../../shared/settlement/log-store.ts';
import { isUnusualReceipt, type ReceiptRecord, receiptRecord } from '../../../shared/settlement/message-log.ts';
import type { Settler } from '../../../shared/settlement/settle.ts';
import { FreshOrphans, MAX_FRESH } from './fresh-orphans.ts';
import { changeOf, type Found, type ReceiptRules, type Told } from './group-change.ts';
import { OrphanStore } from './orphan-store.ts';
import { type Hit, ReceiptLookup } from './receipt-lookup.ts';
import { awaitsAnswer, type IncomingReceipt, onlyUnknown } from './receipt-match.ts';

/**
 * `matched`: it settled a part. `unknown_settled`: it fitted the only submit without an answer. `not_receipt`: a text with
 * esm_class 0 that means no message of ours. `unstorable`: the store works but refuses this receipt, and would refuse it again.
 */
export type ReceiptResult = ReceiptRecord['result'] | 'orphan' | 'not_receipt' | 'unstorable';

export interface ReceiptSettlerOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly settler: Settler;
  readonly rules: ReceiptRules;
  readonly messageLog: MessageLog;
  onGroup(size: number): void;
  /** Resolves when the answers in progress are stored. So a receipt that comes right after its answer finds its message. */
  answersStored(): Promise<void>;
}

const MAX_GROUP = 200;
const GATHER_MS = 5;
/** Under load a group costs three commands (an intent, an update, an insert), however many receipts it has. */
const PAUSE_MS = 20;

/**
 * Settles receipts in groups. When `add` resolves, the receipt is stored in its message or as an orphan. When `add` rejects,
 * nothing is certain, and the carrier must send it again.
 */
export class ReceiptSettler {
  readonly #options: ReceiptSettlerOptions;
  readonly #lookup: ReceiptLookup;
  readonly #orphans: OrphanStore;
  readonly #grouper: Grouper<IncomingReceipt, ReceiptResult>;
  readonly #fresh: FreshOrphans;
  #maybeOrphans = true;

  constructor(options: ReceiptSettlerOptions) {
    this.#options = options;
    this.#lookup = new ReceiptLookup(options.db, options.rules.carrier);
    this.#orphans = new OrphanStore(options.db, options.rules.carrier);
    this.#fresh = new FreshOrphans(options.clock);
    this.#grouper = new Grouper({
      maxItems: MAX_GROUP,
      gatherMs: GATHER_MS,
      pauseMs: PAUSE_MS,
      run: (items) => this.#run(items),
    });
  }

  get idle(): boolean {
    return this.#grouper.idle;
  }

  get freshOrphans(): number {
    return this.#fresh.size;
  }

  /** A message was sent. Remembers it, because its receipts will come. */
  expect(message: MessageDocument): void {
    this.#lookup.remember(message);
  }

  add(receipt: IncomingReceipt): Promise<ReceiptResult> {
    return this.#grouper.add(receipt);
  }

  /** Answers brought these keys. Settles the receipts that came before them. */
  async adopt(keys: readonly string[]): Promise<void> {
    if (!this.#maybeOrphans || keys.length === 0) return;
    const orphans = await this.#orphans.withKeys(keys);
    await Promise.all(orphans.map((orphan) => this.#grouper.add(orphan)));
  }

  /** Reads the orphans that an earlier holder may have left. */
  async recover(): Promise<void> {
    const orphans = await this.#orphans.since(this.#fresh.since(), MAX_FRESH);
    for (const receipt of orphans) this.#fresh.add(receipt.orphan, receipt);
    // Older orphans wait for an answer that was lost with its connection.
    this.#maybeOrphans = orphans.length > 0;
  }

  /** Tries fresh orphans again. Call it every few seconds. */
  async sweep(): Promise<void> {
    await Promise.all(this.#fresh.due().map((receipt) => this.#grouper.add(receipt)));
    await this.#options.settler.payOwed();
  }

  async #run(receipts: readonly IncomingReceipt[]): Promise<readonly ReceiptResult[]> {
    // If this fails, for whatever reason, it says nothing about these receipts.
    await this.#options.settler.payOwed();
    try {
      return await this.#take(receipts);
    } catch (error) {
      if (!mayBeTheReceipts(error)) throw error;
      // One by one, so that a receipt that cannot be stored does not hold up the others.
      const results: ReceiptResult[] = [];
      for (const receipt of receipts) results.push(await this.#runAlone(receipt));
      return results;
    }
  }

  async #runAlone(receipt: IncomingReceipt): Promise<ReceiptResult> {
    await this.#options.settler.payOwed();
    try {
      const [result = 'orphan'] = await this.#take([receipt]);
      return result;
    } catch (error) {
      if (!mayBeTheReceipts(error)) throw error;
      // It may be stored, and what follows from it failed. Then it comes again.
      await this.#options.settler.payOwed();
      return 'unstorable';
    }
  }

  async #take(receipts: readonly IncomingReceipt[]): Promise<readonly ReceiptResult[]> {
    this.#options.onGroup(receipts.length);
    const found: (Found | undefined)[] = (await this.#lookup.find(receipts)).map(byId);
    const foreign = await this.#second(receipts, found);
    const kept = await this.#keepOrphans(receipts, found, foreign);
    const results = await this.#settle(receipts, found);
    for (const i of foreign) results[i] = 'not_receipt';
    const done = receipts.flatMap(({ orphan }, i) => (found[i] === undefined ? [] : (orphan ?? kept.get(i) ?? [])));
    for (const id of done) this.#fresh.remove(id);
    await this.#orphans.remove(done);
    return results;
  }

  /**
   * Looks again for receipts without a message. The order matters: first the messages that are being submitted are read, then the
   * ids are looked up again. If an answer was stored between the two, its id finds the message. If an answer was not stored yet,
   * its message is in the list, and the receipt is ambiguous. So the receipt never settles another unanswered message to the same
   * number. Returns the plain texts that can mean no message of ours.
   */
  async #second(receipts: readonly IncomingReceipt[], found: (Found | undefined)[]): Promise<readonly number[]> {
    if (found.every((hit) => hit !== undefined)) return [];
    await this.#options.answersStored();
    for (const [i, hit] of this.#lookup.recent(receipts).entries()) found[i] ??= byId(hit);
    const missing = receipts.flatMap((receipt, i) => (found[i] === undefined ? [{ receipt, i }] : []));
    if (missing.length === 0) return [];
    const { clock, rules } = this.#options;
    const unanswered = await this.#lookup.unanswered(clock.now());
    const hits = await this.#lookup.findAnyForm(missing.map(({ receipt }) => receipt));
    for (const [n, { receipt, i }] of missing.entries()) {
      const hit = byId(hits[n]);
      const byAddress = hit === undefined && receipt.plain !== true;
      const unknown = byAddress ? onlyUnknown(unanswered ?? [], receipt, rules.carrier) : undefined;
      const [candidate] = receipt.candidates;
      found[i] =
        unknown === undefined || candidate === undefined
          ? hit
          : { message: unknown, key: candidate.key, byAddress: true };
    }
    return missing.flatMap(({ receipt, i }) => {
      const isKept = found[i] !== undefined || receipt.plain !== true || receipt.orphan !== undefined;
      return isKept || unanswered === undefined || awaitsAnswer(unanswered, receipt) ? [] : [i];
    });
  }

  /** Stores the receipts that fit no message, then looks once more, because their answer may have come meanwhile. */
  async #keepOrphans(
    receipts: readonly IncomingReceipt[],
    found: (Found | undefined)[],
    foreign: readonly number[],
  ): Promise<ReadonlyMap<number, string>> {
    const kept = new Map<number, string>();
    const lost = receipts.flatMap((receipt, i) =>
      found[i] === undefined && receipt.orphan === undefined && !foreign.includes(i) ? [{ receipt, i }] : [],
    );
    if (lost.length === 0) return kept;
    this.#maybeOrphans = true;
    const arrivedAt = this.#options.clock.now();
    const ids = await this.#orphans.keep(
      lost.map(({ receipt }) => receipt),
      arrivedAt,
    );
    const hits = await this.#lookup.findAnyForm(lost.map(({ receipt }) => receipt));
    for (const [n, { receipt, i }] of lost.entries()) {
      const id = ids[n];
      if (id === undefined) continue;
      kept.set(i, id);
      found[i] = byId(hits[n]);
      if (found[i] === undefined) this.#fresh.add(id, { ...receipt, orphan: id, arrivedAt });
    }
    return kept;
  }

  /** Several receipts of one group may be for one message. They make one change. */
  async #settle(receipts: readonly IncomingReceipt[], found: readonly (Found | undefined)[]): Promise<ReceiptResult[]> {
    const results: ReceiptResult[] = receipts.map(() => 'orphan');
    const at = this.#options.clock.now();
    const byMessage = new Map<MessageId, { readonly message: MessageDocument; readonly told: Told[] }>();
    for (const [i, receipt] of receipts.entries()) {
      const hit = found[i];
      if (hit === undefined) continue;
      const entry = byMessage.get(hit.message._id) ?? { message: hit.message, told: [] };
      entry.told.push({ i, receipt, hit });
      byMessage.set(hit.message._id, entry);
    }
    const items = [...byMessage.values()].map(({ message, told }) => ({
      message,
      decide: (stored: MessageDocument): Change | undefined => this.#decide(stored, told, results),
    }));
    const settled = items.length === 0 ? [] : await this.#options.settler.settle(items);
    for (const message of settled) if (message !== undefined) this.#lookup.remember(message);
    for (const { message, told } of byMessage.values()) this.#log(message, told, results, at);
    return results;
  }

  /** Logs after everything else. The receipts are stored, and their answers do not wait for this. */
  #log(message: MessageDocument, told: readonly Told[], results: readonly ReceiptResult[], at: Date): void {
    const { messageLog, rules } = this.#options;
    for (const { i, receipt, hit } of told) {
      const result = results[i];
      if (result === undefined || !isRecorded(result)) continue;
      if (!isUnusualReceipt(message, receipt, result) && !messageLog.wantsUsual(message.account)) continue;
      messageLog.add([receiptRecord(rules.carrier, message._id, hit.key, receipt, result, at)]);
    }
  }

  #decide(message: MessageDocument, told: readonly Told[], results: ReceiptResult[]): Change | undefined {
    const { rules, clock } = this.#options;
    const decided = changeOf(message, told, rules, clock.now());
    for (const [{ i }, result] of decided.results) results[i] = result;
    return decided.change;
  }
}

function mayBeTheReceipts(error: unknown): boolean {
  return !isStoreTrouble(error) && !isAccessRefused(error) && !(error instanceof LeaseLostError);
}

function isRecorded(result: ReceiptResult): result is ReceiptRecord['result'] {
  return result !== 'orphan' && result !== 'unstorable' && result !== 'not_receipt';
}

function byId(hit: Hit | undefined): Found | undefined {
  return hit === undefined ? undefined : { ...hit, byAddress: false };
}
