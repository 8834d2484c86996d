import { type Change, decideInTurn } from '../../../shared/messages/document/change.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import {
  isUnusualReceipt,
  type MessageLog,
  type ReceiptRecord,
  receiptRecord,
} from '../../../shared/messages/settlement/message-log.ts';
import type { Settler } from '../../../shared/messages/settlement/settle.ts';
import { Grouper } from '../../../shared/platform/runtime/grouper.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import { isOfDeliver } from '../session/deliver-refusals.ts';
import { type AnswersInFlight, Orphans } from './orphans.ts';
import { changeOf, type MatchedReceipt, type ReceiptRules } from './receipt-change.ts';
import { type Hit, ReceiptLookup } from './receipt-lookup.ts';
import { fits, type IncomingReceipt, keysOf } from './receipt-match.ts';

/** `unknown_settled`: it fitted the only unanswered submit. `not_receipt`: a text that means no message of ours. */
export type ReceiptResult = ReceiptRecord['result'] | 'orphan' | 'not_receipt';

interface InGroup {
  readonly i: number;
  readonly matched: MatchedReceipt;
}

/** The receipt itself cannot be stored, for this reason; the others of its group are. */
class Unstorable {
  readonly reason: unknown;

  constructor(reason: unknown) {
    this.reason = reason;
  }
}

export interface ReceiptSettlerOptions extends Pick<CarrierContext, 'db' | 'clock'> {
  readonly settler: Settler;
  readonly rules: ReceiptRules;
  readonly messageLog: MessageLog;
  onGroup(size: number): void;
  /** Messages that the carrier may have, and that are not in `messages` yet. Absent: there are none. */
  unborn?(): readonly MessageDocument[];
  /** The answers that are not stored yet. A receipt that comes right after its answer is stored with it. */
  readonly answers: AnswersInFlight;
}

const MAX_GROUP = 200;
const GATHER_MS = 5;
/** Under load a group costs three commands (an intent, an update, an insert), however many receipts it has. */
const PAUSE_MS = 30;

/**
 * Settles receipts in groups. When `add` resolves, the receipt is stored in its message or as an orphan. The deliveries
 * of its events are stored while the next group is settled; after a crash the intent makes sure of them. When `add`
 * rejects, nothing is certain, and the carrier must send the receipt again.
 */
export class ReceiptSettler {
  readonly #options: ReceiptSettlerOptions;
  readonly #lookup: ReceiptLookup;
  readonly #orphans: Orphans;
  readonly #grouper: Grouper<IncomingReceipt, ReceiptResult | Unstorable>;

  constructor(options: ReceiptSettlerOptions) {
    this.#options = options;
    const { carrier } = options.rules;
    this.#lookup = new ReceiptLookup(options.db, carrier, options.unborn);
    this.#orphans = new Orphans({ ...options, carrier, lookup: this.#lookup });
    this.#grouper = new Grouper({
      maxItems: MAX_GROUP,
      gatherMs: GATHER_MS,
      pauseMs: PAUSE_MS,
      windowed: true,
      run: (items) => this.#run(items),
    });
  }

  get idle(): boolean {
    return this.#grouper.idle && this.#options.settler.idle;
  }

  get freshOrphans(): number {
    return this.#orphans.fresh;
  }

  /** Call it when a message was sent: its receipts will come. */
  expect(message: MessageDocument): void {
    this.#lookup.remember(message);
  }

  async add(receipt: IncomingReceipt): Promise<ReceiptResult> {
    const early = this.#lookup.recent(receipt) === undefined ? await this.#addToAnswer(receipt) : undefined;
    const result = early ?? (await this.#grouper.add(receipt));
    if (result instanceof Unstorable) throw result.reason;
    return result;
  }

  /** Settles the receipts that came before the answers with these keys. */
  async adopt(keys: readonly string[]): Promise<void> {
    const orphans = await this.#orphans.withKeys(keys);
    await Promise.all(orphans.map((orphan) => this.#grouper.add(orphan)));
  }

  recover(): Promise<void> {
    return this.#orphans.recover();
  }

  /** Tries fresh orphans again. Call it every few seconds. */
  async repeat(): Promise<void> {
    await Promise.all(this.#orphans.due().map((receipt) => this.#grouper.add(receipt)));
    await this.#options.settler.finishFollowUps();
  }

  /** Settles a receipt together with the answer that brought its id. Undefined: it has to be settled by itself. */
  async #addToAnswer(receipt: IncomingReceipt): Promise<ReceiptResult | undefined> {
    // Some carriers send a receipt just before its answer. Both are then read in one turn.
    await new Promise((resolve) => setImmediate(resolve));
    const key = this.#lookup.likelyKey(receipt);
    const at = this.#options.clock.now();
    let decided: { readonly matched: MatchedReceipt; readonly result: ReceiptRecord['result'] } | undefined;
    const isStored = await this.#options.answers.join(key, {
      fits: (claimed) => fits(claimed, key, receipt),
      decide: (message) => {
        decided = undefined;
        // The answer came too late to bring its id.
        if (!keysOf(message).has(key)) return undefined;
        const matched = { receipt, hit: { message, key } };
        const { change, result } = this.#decide(message, matched);
        decided = { matched, result };
        return change;
      },
    });
    if (!isStored || decided === undefined) return undefined;
    this.#log(decided.matched, decided.result, at);
    return decided.result;
  }

  async #run(receipts: readonly IncomingReceipt[]): Promise<readonly (ReceiptResult | Unstorable)[]> {
    // Outside the `try`: if this fails, for whatever reason, that says nothing about these receipts.
    await this.#options.settler.ready();
    try {
      return await this.#take(receipts);
    } catch (error) {
      if (!isOfDeliver(error)) throw error;
      // One by one, so that a receipt that cannot be stored does not hold up the others.
      const results: (ReceiptResult | Unstorable)[] = [];
      for (const receipt of receipts) results.push(await this.#runAlone(receipt));
      return results;
    }
  }

  async #runAlone(receipt: IncomingReceipt): Promise<ReceiptResult | Unstorable> {
    await this.#options.settler.finishFollowUps();
    try {
      const [result = 'orphan'] = await this.#take([receipt]);
      return result;
    } catch (error) {
      if (!isOfDeliver(error)) throw error;
      // The receipt may be stored, and only its follow-up failed: if that fails again, the carrier sends it again.
      await this.#options.settler.finishFollowUps();
      return new Unstorable(error);
    }
  }

  async #take(receipts: readonly IncomingReceipt[]): Promise<readonly ReceiptResult[]> {
    this.#options.onGroup(receipts.length);
    const found = await this.#lookup.find(receipts);
    const { foreign, kept } = await this.#orphans.findOrKeep(receipts, found);
    const results = await this.#settle(receipts, found);
    for (const i of foreign) results[i] = 'not_receipt';
    await this.#orphans.remove(
      receipts.flatMap(({ orphan }, i) => (found[i] === undefined ? [] : (orphan ?? kept.get(i) ?? []))),
    );
    return results;
  }

  /** Several receipts of a group for one message make one change. */
  async #settle(receipts: readonly IncomingReceipt[], found: readonly (Hit | undefined)[]): Promise<ReceiptResult[]> {
    const results: ReceiptResult[] = receipts.map(() => 'orphan');
    const at = this.#options.clock.now();
    const byMessage = new Map<MessageId, { readonly message: MessageDocument; readonly ofOne: InGroup[] }>();
    for (const [i, receipt] of receipts.entries()) {
      const hit = found[i];
      if (hit === undefined) continue;
      const entry = byMessage.get(hit.message._id) ?? { message: hit.message, ofOne: [] };
      entry.ofOne.push({ i, matched: { receipt, hit } });
      byMessage.set(hit.message._id, entry);
    }
    const items = [...byMessage.values()].map(({ message, ofOne }) => ({
      message,
      decide: (stored: MessageDocument): Change | undefined =>
        decideInTurn(
          stored,
          ofOne.map(({ i, matched }) => (after) => {
            const { change, result } = this.#decide(after, matched);
            results[i] = result;
            return change;
          }),
        ),
    }));
    const settled = items.length === 0 ? [] : await this.#options.settler.change(items);
    for (const message of settled) if (message !== undefined) this.#lookup.remember(message);
    for (const { i, matched } of [...byMessage.values()].flatMap(({ ofOne }) => ofOne))
      this.#log(matched, results[i], at);
    return results;
  }

  /** Last: the receipts are stored, and their answers do not wait for the log. */
  #log(matched: MatchedReceipt, result: ReceiptResult | undefined, at: Date): void {
    const { messageLog, rules } = this.#options;
    const {
      receipt,
      hit: { message, key },
    } = matched;
    if (result === undefined || !isRecorded(result)) return;
    if (!isUnusualReceipt(message, receipt, result) && !messageLog.wantsUsual(message.account)) return;
    messageLog.add([receiptRecord(rules.carrier, message._id, key, receipt, result, at)]);
  }

  #decide(message: MessageDocument, matched: MatchedReceipt): ReturnType<typeof changeOf> {
    const { clock, messageLog, rules } = this.#options;
    const decided = changeOf(message, matched, rules, clock.now());
    return messageLog.wantsRaw(message.account) ? withRaw(decided, matched.receipt) : decided;
  }
}

function withRaw(
  { change, result }: ReturnType<typeof changeOf>,
  { excerpt, tlvs }: IncomingReceipt,
): ReturnType<typeof changeOf> {
  if (change?.entries === undefined) return { change, result };
  const raw = { text: excerpt, ...(tlvs !== undefined && { tlvs }) };
  const entries = change.entries.map((entry) => (entry.state === 'sent' ? entry : { ...entry, raw }));
  return { change: { ...change, entries }, result };
}

function isRecorded(result: ReceiptResult): result is ReceiptRecord['result'] {
  return result !== 'orphan' && result !== 'not_receipt';
}
