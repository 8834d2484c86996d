import type { Db } from 'mongodb';
import { createAnnouncer } from '../../../shared/events/webhooks/announce.ts';
import { deliveriesIn, type Stored } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { MIXED, queueDocuments } from '../../../shared/messages/queue/queue-document.ts';
import {
  claimLines,
  insertFirst,
  queueOf,
  takeOverClaims,
  writeOut,
} from '../../../shared/messages/queue/queue-store.ts';
import type { SubmitOutcome } from '../../../shared/messages/settlement/decide-outcome.ts';
import { Settler } from '../../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../../shared/messages/settlement/settle-outcomes.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { storePaid } from '../../../shared/money/payment/follow-up.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, eventId, type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { Claimer } from '../../../workers/smpp/claim/claim.ts';
import { openGates } from '../../support/gates.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { enqueue, enqueueWritten } from '../../support/queue.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type Scenario, untilDone } from './each-command.ts';

const CREDITS = 1_000;
const clock = systemClock;

export async function expectBalance(db: Db, account: AccountId, balance: number): Promise<void> {
  const { problems, balance: found } = await verifyLedger(db, account);
  expect({ problems, balance: found }).to.deep.equal({ problems: [], balance });
}

export const messagesOf = (db: Db, filter: { readonly account: AccountId }): Promise<MessageDocument[]> =>
  db.collection<MessageDocument>('messages').find(filter).sort({ _id: 1 }).toArray();

/** A path for one case, so that its claimer takes nothing of other cases. */
const newPath = (): string => `path ${newId('req')}`;

function makeLines(account: AccountId, path: string): MessageDocument[] {
  return Array.from({ length: 4 }, () => makeMessage({ account, path, _id: newId('msg') }));
}

/** A claimer that holds the lease of carrier `c`, and a claim of it. */
function claimerOf(db: Db, epoch: number, path: string) {
  const claimer = new Claimer({ db, clock, carrier: 'c', epoch, gates: openGates(db, clock), held: () => true });
  return { claimer, claim: () => claimer.claim({ messages: 100, segments: 100 }, { paths: [path], fromLane: 0 }) };
}

async function takeAll(faulty: Db, path: string, count: number, taken: MessageDocument[]): Promise<void> {
  const { claim } = claimerOf(faulty, 1, path);
  await untilDone(async () => {
    taken.push(...(await claim()));
    return taken.length >= count;
  });
}

export const idsOf = (some: readonly { readonly _id: MessageId }[]) => some.map(({ _id }) => _id).sort();

const claim: Scenario = {
  name: 'lines of the queue are claimed',
  async open(db, faulty) {
    const path = newPath();
    const lines = makeLines(newId('acc'), path);
    await enqueue(db, lines);
    const taken: MessageDocument[] = [];
    return {
      act: () => takeAll(faulty, path, lines.length, taken),
      async expectWhole() {
        expect(idsOf(taken), 'each is taken once').to.deep.equal(idsOf(lines));
        const [document] = await queueOf(db).find({ path }).toArray();
        expect(document).to.include({ next: 4 });
        expect(document?.claims.map(({ id, from, to }) => ({ id, from, to }))).to.deep.equal([
          { id: taken[0]?.claim?.id, from: 0, to: 4 },
        ]);
        expect(await claimerOf(db, 1, path).claim()).to.deep.equal([]);
      },
    };
  },
};

const claimStored: Scenario = {
  name: 'messages that are stored are claimed',
  async open(db, faulty) {
    const account = newId('acc');
    const path = newPath();
    const lines = makeLines(account, path);
    await enqueueWritten(db, lines);
    const taken: MessageDocument[] = [];
    return {
      act: () => takeAll(faulty, path, lines.length, taken),
      async expectWhole() {
        expect(idsOf(taken), 'each is taken once').to.deep.equal(idsOf(lines));
        const stored = await messagesOf(db, { account });
        expect(stored).to.have.deep.members(taken);
        expect(new Set(stored.map(({ state }) => state))).to.deep.equal(new Set(['submitting']));
        expect(await claimerOf(db, 1, path).claim()).to.deep.equal([]);
      },
    };
  },
};

const written: Scenario = {
  name: 'what waits is written out, and what was claimed of it',
  async open(db, faulty) {
    const account = newId('acc');
    const path = newPath();
    const lines = makeLines(account, path);
    const [document] = await enqueue(db, lines, new Date(0));
    const old = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    if (document !== undefined) await claimLines(db, old, [{ head: document, to: 1 }]);
    const later = new ManualClock(new Date());
    return {
      async act() {
        await untilDone(async () => {
          later.turn(60_000);
          return (await writeOut(faulty, later.now(), { path })) === 0;
        });
      },
      async expectWhole() {
        const stored = await messagesOf(db, { account });
        expect(idsOf(stored)).to.deep.equal(idsOf(lines));
        expect(stored.map(({ state, claim }) => claim?.id ?? state)).to.have.members([
          old.id,
          ...Array(3).fill('queued'),
        ]);
        const { claim } = claimerOf(db, 2, path);
        expect(idsOf(await claim()), 'the others are claimed once').to.deep.equal(idsOf(lines.slice(1)));
        expect(await claim()).to.deep.equal([]);
      },
    };
  },
};

function makePaid(path: string) {
  const group = newId('grp');
  return [newId('acc'), newId('acc')].map((account) => ({ group, messages: makeLines(account, path) }));
}

const storedTogether: Scenario = {
  name: 'what accounts have paid for together is stored',
  async open(db, faulty) {
    const path = newPath();
    const paid = makePaid(path);
    let first = true;
    return {
      async act() {
        await untilDone(async () => {
          const groups = paid.map((group) => ({ ...group, first }));
          first = false; // as the follow-up repeats it
          await storePaid(faulty, groups, clock.now());
          return true;
        });
      },
      async expectWhole() {
        const { claim } = claimerOf(db, 1, path);
        expect(idsOf(await claim()), 'each is claimed once').to.deep.equal(
          idsOf(paid.flatMap(({ messages }) => messages)),
        );
        expect(await claim()).to.deep.equal([]);
      },
    };
  },
};

const split: Scenario = {
  name: 'what waits of several accounts in one document is written out, and what was claimed of it',
  async open(db, faulty) {
    const path = newPath();
    const paid = makePaid(path);
    const lines = paid.flatMap(({ messages }) => messages);
    const [document] = queueDocuments(paid, new Date(0));
    if (document === undefined) throw new Error('they share one');
    await insertFirst(db, [document]);
    const old = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    await claimLines(db, old, [{ head: document, to: 1 }]);
    const later = new ManualClock(new Date());
    return {
      async act() {
        await untilDone(async () => {
          later.turn(60_000);
          return (await writeOut(faulty, later.now(), { path })) === 0;
        });
      },
      async expectWhole() {
        const stored = await db.collection<MessageDocument>('messages').find({ path }).sort({ _id: 1 }).toArray();
        expect(idsOf(stored)).to.deep.equal(idsOf(lines));
        expect(stored.filter(({ state }) => state === 'submitting').map(({ claim: stamp }) => stamp?.id)).to.deep.equal(
          [old.id],
        );
        const { claim } = claimerOf(db, 2, path);
        expect(idsOf(await claim()), 'the others are claimed once').to.deep.equal(idsOf(lines.slice(1)));
        expect(await claim()).to.deep.equal([]);
        expect(await queueOf(db).countDocuments({ path, account: MIXED })).to.equal(0);
      },
    };
  },
};

const takeOver: Scenario = {
  name: 'what a dead holder has claimed is taken over',
  async open(db, faulty) {
    const account = newId('acc');
    const path = newPath();
    const lines = makeLines(account, path);
    const stored = makeLines(account, path);
    await enqueue(db, lines);
    await enqueueWritten(db, stored);
    const heads = await queueOf(db).find({ path }).toArray();
    // It dies before it has stamped the stored messages.
    const old = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    await claimLines(
      db,
      old,
      heads.map((head) => ({ head, to: 4 })),
    );
    return {
      act: async () => void (await untilDone(async () => (await takeOverClaims(faulty, 'c', 2, clock.now())) >= 0)),
      async expectWhole() {
        const unknown = (await messagesOf(db, { account })).filter(({ outcome }) => outcome === 'unknown');
        expect(idsOf(unknown)).to.deep.equal(idsOf(lines));
        expect(new Set(unknown.map(({ claim, v }) => `${claim?.id} ${claim?.epoch} ${v}`))).to.deep.equal(
          new Set([`${old.id} 2 2`]),
        );
        const { claim } = claimerOf(db, 2, path);
        expect(idsOf(await claim()), 'what was not stamped waits again').to.deep.equal(idsOf(stored));
        expect(await claim()).to.deep.equal([]);
      },
    };
  },
};

const OUTCOMES: readonly SubmitOutcome[] = [
  { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] },
  { kind: 'rejected', parts: [{ state: 'refused' }], code: 'c.invalid_number', reason: 'invalid' },
  { kind: 'sent', parts: [{ state: 'accepted', key: 'c:2' }] },
];

const settle: Scenario = {
  name: 'answers of a carrier are settled: states, events, refunds',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const endpoint = await subscribe(db, account);
    const taken = { id: newId('clm'), carrier: 'c', epoch: 1, at: clock.now() };
    const claimed = OUTCOMES.map(() => makeMessage({ account, state: 'submitting', claim: taken, v: 1 }));
    await db.collection<MessageDocument>('messages').insertMany(claimed);
    return {
      async act() {
        const announcer = createAnnouncer({ db: faulty, clock });
        const settler = new Settler({ db: faulty, announcer, lease: newId('req'), epoch: 1, stream: 'outcomes' });
        const log = silentLog;
        const outcomes = new OutcomeSettler({ settler, clock, log, onKeys: () => {}, onGroup: () => {} });
        await Promise.all(claimed.map((message, i) => outcomes.add(message, OUTCOMES[i] ?? { kind: 'requeue' })));
      },
      async expectWhole() {
        const states = (await messagesOf(db, { account })).map(({ state }) => state);
        expect(states.sort()).to.deep.equal(['rejected', 'sent', 'sent']);
        const stored = await db.collection('deliveries').find({ endpoint }).project<Stored>({}).toArray();
        const told = stored.flatMap(deliveriesIn);
        const ids = claimed.map(({ _id }, i) => `${eventId(_id, i === 1 ? 'rejected' : 'sent')}:${endpoint}`);
        expect(told.map(({ _id }) => _id).sort()).to.deep.equal(ids.sort());
        await expectBalance(db, account, CREDITS + 1);
      },
    };
  },
};

const BORN: readonly SubmitOutcome[] = [...OUTCOMES, { kind: 'requeue' }];

const settleUnborn: Scenario = {
  name: 'answers about messages that are nowhere but in the queue are settled: inserts, events, refunds, lines',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const endpoint = await subscribe(db, account);
    const path = newPath();
    const lines = makeLines(account, path);
    await enqueue(db, lines);
    const { claim, claimer } = claimerOf(faulty, 1, path);
    const claimed = await untilDone(claim);
    return {
      async act() {
        const announcer = createAnnouncer({ db: faulty, clock });
        const settler = new Settler({
          ...{ db: faulty, announcer, lease: newId('req'), epoch: 1, stream: 'outcomes' },
          isUnborn: (id) => claimer.isUnborn(id),
        });
        const onStored = (ids: readonly MessageId[]) => claimer.stored(ids);
        const none = { onKeys: () => {}, onGroup: () => {} };
        const outcomes = new OutcomeSettler({ settler, clock, log: silentLog, onStored, ...none });
        await Promise.all(claimed.map((message, i) => outcomes.add(message, BORN[i] ?? { kind: 'requeue' })));
        await untilDone(async () => {
          await claimer.removeEnded();
          return true;
        });
      },
      async expectWhole() {
        const states = (await messagesOf(db, { account })).map(({ state }) => state);
        expect(states.sort()).to.deep.equal(['queued', 'rejected', 'sent', 'sent']);
        const stored = await db.collection('deliveries').find({ endpoint }).project<Stored>({}).toArray();
        const told = stored.flatMap(deliveriesIn);
        const ids = claimed
          .slice(0, 3)
          .map(({ _id }, i) => `${eventId(_id, i === 1 ? 'rejected' : 'sent')}:${endpoint}`);
        expect(told.map(({ _id }) => _id).sort()).to.deep.equal(ids.sort());
        await expectBalance(db, account, CREDITS + 1);
        const again = claimerOf(db, 1, path);
        expect(idsOf(await again.claim()), 'what came back is claimed once').to.deep.equal(idsOf(claimed.slice(3)));
        expect(await again.claim()).to.deep.equal([]);
        // A rolled-back removal leaves a document with nothing to claim. The next holder removes it.
        expect(await takeOverClaims(db, 'c', 2, clock.now())).to.equal(0);
        expect(await queueOf(db).countDocuments({ account, written: { $exists: false } })).to.equal(0);
      },
    };
  },
};

async function subscribe(db: Db, account: AccountId): Promise<EndpointDocument['_id']> {
  const endpoint = newId('whk');
  await db.collection<EndpointDocument>('endpoints').insertOne({
    _id: endpoint,
    account,
    channel: 'sms',
    url: 'https://example.com/',
    place: 0,
    events: ['message.sent', 'message.rejected'],
    secrets: [],
    status: 'active',
    createdAt: clock.now(),
  });
  return endpoint;
}

export const SENDING: readonly Scenario[] = [
  claim,
  claimStored,
  storedTogether,
  written,
  split,
  takeOver,
  settle,
  settleUnborn,
];
