import type { Collection, Db } from 'mongodb';
import type { ReceiptParts } from '../../shared/carriers/receipt-profiles.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { Claim, FinalState, MessageDocument } from '../../shared/messages/document/message.ts';
import { MessageLog, type OrphanDocument } from '../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../shared/messages/settlement/settle-outcomes.ts';
import { newId } from '../../shared/platform/runtime/ids.ts';
import { candidateKeys } from '../../workers/smpp/dialect/message-ids.ts';
import type { AnswersInFlight } from '../../workers/smpp/receipts/orphans.ts';
import type { IncomingReceipt } from '../../workers/smpp/receipts/receipt-match.ts';
import { ReceiptSettler } from '../../workers/smpp/receipts/settle-receipts.ts';
import { makeMessage } from './make.ts';
import { ManualClock } from './manual-clock.ts';
import { silentLog } from './silent-log.ts';
import { openTestStore, type TestStore } from './store.ts';

export const TO = '919876543210';
export const SENDER = 'HARKRA';

export const noAnswers: AnswersInFlight = { join: async () => false, settled: async () => {} };

/** The code of a receipt that cannot be stored. */
export const POISON = 'poison';

/** A store with messages at carrier `c`, and the settlers of their receipts. */
export class ReceiptWorld {
  readonly clock = new ManualClock();
  readonly store: TestStore;
  #events: string[] = [];
  #streams: Settler[] = [];
  /** Messages that the carrier may have and that are not stored yet. */
  unborn: readonly MessageDocument[] = [];
  /** Which receipts decide about a message of several segments. Changes apply to the next settler. */
  parts: ReceiptParts = 'perPart';
  receipts: ReceiptSettler;
  /** If set, events cannot be stored. */
  eventsFailure: Error | undefined;

  private constructor(store: TestStore) {
    this.store = store;
    this.receipts = this.settler();
  }

  static async open(): Promise<ReceiptWorld> {
    return ReceiptWorld.in(await openTestStore());
  }

  static in(store: TestStore): ReceiptWorld {
    return new ReceiptWorld(store);
  }

  close(): Promise<void> {
    return this.store.close();
  }

  get messages(): Collection<MessageDocument> {
    return this.store.db.collection<MessageDocument>('messages');
  }

  get orphans(): Collection<OrphanDocument> {
    return this.store.db.collection<OrphanDocument>('orphans');
  }

  /** Empties the store and forgets the settler. */
  async begin(): Promise<void> {
    this.#events = [];
    this.#streams = [];
    this.eventsFailure = undefined;
    this.unborn = [];
    for (const name of ['messages', 'intents', 'orphans']) await this.store.db.collection(name).deleteMany({});
    this.receipts = this.settler();
  }

  settler(db = this.store.db, answers = noAnswers): ReceiptSettler {
    return new ReceiptSettler({
      db,
      clock: this.clock,
      rules: {
        ...{ carrier: 'c', parts: this.parts, holdMinutes: 60 },
        submitsOf: ({ segments }) => segments,
        reasonOf: (state, code) => {
          if (code === POISON) throw new Error('it cannot be stored');
          return `${state} by ${code}`;
        },
      },
      messageLog: new MessageLog({ db, clock: this.clock, log: silentLog, days: 30 }),
      settler: this.#stream('receipts', db),
      onGroup: () => {},
      unborn: () => this.unborn,
      answers,
    });
  }

  /** Settles the carrier's answers. */
  outcomes(onAnswer: (message: MessageDocument) => void, db = this.store.db): OutcomeSettler {
    return new OutcomeSettler({
      settler: this.#stream('outcomes', db),
      clock: this.clock,
      log: silentLog,
      onKeys: (messages) => {
        for (const message of messages) onAnswer(message);
      },
      onGroup: () => {},
    });
  }

  #stream(stream: 'receipts' | 'outcomes', db: Db): Settler {
    // Late announcements of an earlier test do not count here.
    const events = this.#events;
    const announce = async (changes: Parameters<Announcer['announce']>[0]): Promise<void> => {
      if (this.eventsFailure !== undefined) throw this.eventsFailure;
      for (const change of changes) if ('entry' in change) events.push(change.entry.state);
    };
    const settler = new Settler({ db, announcer: { announce }, lease: 'carrier:c', epoch: 1, stream });
    this.#streams.push(settler);
    return settler;
  }

  /** The announced states, once no more will follow. */
  async told(): Promise<readonly string[]> {
    for (const settler of this.#streams) await settler.finishFollowUps();
    return this.#events;
  }

  claim(carrier = 'c'): Claim {
    return { id: newId('clm'), carrier, epoch: 1, at: this.clock.now() };
  }

  async put(overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> {
    const message = makeMessage({
      to: TO,
      sender: SENDER,
      state: 'sent',
      parts: [{ key: 'c:1', state: 'accepted' }],
      claim: this.claim(),
      history: [{ state: 'sent', at: this.clock.now() }],
      v: 2,
      ...overrides,
    });
    await this.messages.insertOne(message);
    return message;
  }

  unknown(overrides: Partial<MessageDocument> = {}): Promise<MessageDocument> {
    const never = { state: 'submitting', outcome: 'unknown', parts: [{ state: 'unknown' }], history: [] } as const;
    return this.put({ ...never, ...overrides });
  }

  async state(message: MessageDocument): Promise<string | undefined> {
    return (await this.messages.findOne({ _id: message._id }))?.state;
  }

  states(messages: readonly MessageDocument[]): Promise<(string | undefined)[]> {
    return Promise.all(messages.map((message) => this.state(message)));
  }
}

export function receipt(id: string, told: FinalState = 'delivered', from = TO, to = SENDER): IncomingReceipt {
  return {
    candidates: candidateKeys({ _id: 'c', idForm: 'learn' }, [id]),
    from,
    to,
    part: { state: told, operator: 'Carrier' },
    excerpt: '',
  };
}
