import { HOUR_MS, hourName } from '../../../shared/messages/statistics.ts';
import { holdCollection, prefixOf, readHolds, releaseHold } from '../../../shared/messages/traffic/hold.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { Brake, type Counts, suspicious, usualIn } from '../../../workers/maintenance/brake.ts';
import { HourCounter } from '../../../workers/maintenance/count-hours.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';

const NOW = new Date('2026-11-28T10:40:00Z');
const DAY_MS = 24 * HOUR_MS;

describe('maintenance/traffic: the brake', () => {
  const store = useStore();
  const clock = new ManualClock(NOW);
  const run = () => new Brake({ db: store.db, clock, log: silentLog }).run(() => true);

  /** An account that sent to India for a week, and now sends 50 messages to Azerbaijan, none of which arrives. */
  const pumped = async (brake: 'watch' | 'hold'): Promise<AccountId> => {
    const account = await makeAccount(store.db, 10);
    await updateAccount(store.db, account, { brake });
    const weeks = Array.from({ length: 7 }, (_, day) => ({
      _id: `${account}:${hourName(new Date(NOW.getTime() - (day + 1) * DAY_MS))}`,
      account,
      prefixes: [{ prefix: '91987', messages: 100, ripe: 100, delivered: 95 }],
      expiresAt: new Date(NOW.getTime() + DAY_MS),
    }));
    await store.db.collection<{ _id: string }>('prefix_hours').insertMany(weeks);
    const message = (to: string, state: string) => ({
      ...{ _id: newId('msg', NOW.getTime() - 30 * 60_000), channel: 'sms', account, to, state, v: 0, history: [] },
    });
    await store.db
      .collection<{ _id: string }>('messages')
      .insertMany([
        ...Array.from({ length: 50 }, () => message('994771234567', 'sent')),
        ...Array.from({ length: 40 }, () => message('919876543210', 'delivered')),
      ]);
    return account;
  };
  const count = () => {
    clock.turn(20_000); // the current hour is counted every 15 seconds
    return new HourCounter({ db: store.db, clock, messageDays: 30, held: () => true }).run();
  };
  const heldOf = async (account: AccountId): Promise<AccountDocument['heldPrefixes']> =>
    (await findAccount(store.db, account))?.heldPrefixes;

  it('holds what looks like fraud, until a person releases it, who is trusted then', async () => {
    const account = await pumped('hold');
    await count();
    await run();

    const [hold, ...others] = await readHolds(store.db, [account]);
    expect(others).to.deep.equal([]);
    expect(hold).to.include({ prefix: '994771', state: 'held' });
    expect(hold?.seen).to.include({ messages: 50, delivered: 0, usualMessages: 0, usualDelivered: 0.95 });
    expect(await heldOf(account)).to.deep.equal(['994771']);

    await releaseHold(store.db, account, '994771', { at: NOW, by: 'user usr_1', reason: 'our launch' });
    expect(await heldOf(account)).to.deep.equal([]);
    await run();
    expect((await readHolds(store.db, [account]))[0]).to.include({ state: 'released' });
    expect(await heldOf(account)).to.deep.equal([]);
  });

  it('holds a prefix whose messages arrive, and whose codes nobody gives back', async () => {
    const account = await makeAccount(store.db, 10);
    await updateAccount(store.db, account, { brake: 'hold' });
    await store.db.collection<{ _id: string }>('prefix_hours').insertMany(
      Array.from({ length: 7 }, (_, day) => ({
        _id: `${account}:${hourName(new Date(NOW.getTime() - (day + 1) * DAY_MS))}`,
        account,
        prefixes: [{ prefix: '91987', messages: 100, ripe: 100, delivered: 95, asked: 100, approved: 80 }],
        expiresAt: new Date(NOW.getTime() + DAY_MS),
      })),
    );
    const atMs = NOW.getTime() - 30 * 60_000;
    const messages = Array.from({ length: 50 }, () => ({
      ...{
        _id: newId('msg', atMs),
        channel: 'sms',
        account,
        to: '994771234567',
        state: 'delivered',
        v: 0,
        history: [],
      },
    }));
    await store.db.collection<{ _id: string }>('messages').insertMany(messages);
    const asked = (state: string) => ({
      ...{ _id: newId('vrf', atMs), account, to: '994771234567', state, expiresAt: new Date(atMs + 600_000) },
    });
    await store.db
      .collection<{ _id: string }>('verifications')
      .insertMany([asked('approved'), ...Array.from({ length: 49 }, () => asked('pending'))]);
    await count();
    await run();
    const [hold] = await readHolds(store.db, [account]);
    expect(hold).to.include({ prefix: '994771', state: 'held' });
    expect(hold?.seen).to.include({ delivered: 1, converted: 0.02, usualConverted: 0.8 });
    expect(hold?.unannounced?.[0]?.told).to.include({ converted: 0.02, usual_converted: 0.8 });
  });

  it('only watches where that is what is wanted, and holds when the account wants more', async () => {
    const account = await pumped('watch');
    await count();
    await run();
    expect((await readHolds(store.db, [account]))[0]).to.include({ state: 'watched' });
    expect(await heldOf(account)).to.equal(undefined);
    // Otherwise the prefix would be trusted before the account wants it held.
    const released = { at: NOW, by: 'user usr_1', reason: 'our launch' };
    expect(await releaseHold(store.db, account, '994771', released)).to.equal(undefined);

    await updateAccount(store.db, account, { brake: 'hold' });
    await run();
    const [hold] = await readHolds(store.db, [account]);
    expect(hold).to.include({ state: 'held' });
    expect(hold?.unannounced?.map(({ event }) => event)).to.deep.equal(['traffic.suspicious', 'traffic.held']);
    expect(hold).not.to.have.property('expiresAt');
    expect(await heldOf(account)).to.deep.equal(['994771']);
  });

  it("makes the account's list agree with what was decided, whatever a killed process has left", async () => {
    const account = await pumped('hold');
    await count();
    await run();
    await holdCollection(store.db).updateOne({ account }, { $set: { state: 'released', expiresAt: NOW } });
    await run();
    expect(await heldOf(account)).to.deep.equal([]);
  });
});

/** [messages, of these delivered], by prefix. The others had time to be delivered. */
type Traffic = Readonly<Record<string, readonly [messages: number, delivered: number]>>;

const counts = ([messages, delivered]: readonly [number, number]): Counts => ({ messages, ripe: messages, delivered });
const recent = (traffic: Traffic) => new Map(Object.entries(traffic).map(([prefix, of]) => [prefix, counts(of)]));
/** Ten hours of each day, of which one is busy. */
const weeks = (days: number, hour: Traffic, busy: Traffic) =>
  usualIn(
    Array.from({ length: days * 10 }, (_, i) => ({
      atMs: Math.floor(i / 10) * DAY_MS + (i % 10) * 2 * HOUR_MS,
      prefixes: Object.entries(i % 10 === 5 ? busy : hour).map(([prefix, of]) => ({ prefix, ...counts(of) })),
    })),
  );

const SHOP: Traffic = { '91987': [100, 95], '91980': [60, 57], '97150': [10, 9] };
const SHOP_BUSY: Traffic = { '91987': [300, 285], '91980': [200, 190], '97150': [30, 28] };
const usual = weeks(14, SHOP, SHOP_BUSY);

/** The traffic of two hours, and the prefixes that look like fraud. */
const CASES: readonly (readonly [name: string, now: Traffic, found: readonly string[], before?: typeof usual])[] = [
  ['a day like any other', { '91987': [180, 170], '91980': [90, 86], '97150': [20, 19] }, []],
  ['nothing', {}, []],
  ['growth: three times as many, and they arrive', { '91987': [950, 900], '91980': [610, 580], '97150': [95, 90] }, []],
  ['a campaign to a new country, which arrives', { '91987': [180, 171], '44770': [2_000, 1_800] }, []],
  [
    'a campaign with an old list: fewer arrive everywhere',
    { '91987': [2_000, 700], '91980': [1_500, 500], '97150': [300, 100] },
    [],
  ],
  ['a carrier is down: nothing arrives, and there is no more than ever', { '91987': [200, 4], '91980': [90, 2] }, []],
  [
    'a carrier is down and everybody asks for a new code: more, and nothing arrives anywhere',
    { '91987': [1_000, 20], '91980': [700, 15], '97150': [100, 2] },
    [],
  ],
  ['pumping at a prefix that the account never had', { '91987': [180, 171], '994771': [400, 12] }, ['994771']],
  ['pumping at a prefix that it knows', { '91987': [180, 171], '97150': [400, 20] }, ['97150']],
  [
    'pumping at several at once',
    { '91987': [600, 570], '994771': [200, 8], '994772': [200, 9], '263771': [200, 0] },
    ['263771', '994771', '994772'],
  ],
  ['pumping at a prefix with half of the traffic', { '91987': [180, 171], '91980': [1_200, 60] }, ['91980']],
  ['pumping by night, when little else is sent', { '91987': [3, 3], '994771': [90, 1] }, ['994771']],
  ['pumping beside little: nothing to compare with but the weeks before', { '994771': [90, 1] }, ['994771']],
  ['a few to a new prefix, none of which arrives', { '91987': [180, 171], '994771': [29, 0] }, []],
  ['night: a handful, of which a prefix has the most', { '91987': [1, 1], '97150': [6, 2] }, []],
  ['a new country where a third fewer arrive', { '91987': [180, 171], '254711': [400, 250] }, []],
  [
    'a prefix where less always arrives',
    { '91987': [180, 171], '92300': [400, 160] },
    [],
    weeks(14, { '91987': [100, 95], '92300': [20, 8] }, { '91987': [100, 95], '92300': [60, 24] }),
  ],
  ['a share that rises while the number stays: others have gone', { '91987': [10, 9], '97150': [58, 3] }, ['97150']],
  [
    'a new account: nobody knows what is usual',
    { '91987': [10, 9], '994771': [400, 3] },
    [],
    weeks(2, SHOP, SHOP_BUSY),
  ],
  ['an account that had sent nothing before', { '994771': [400, 3] }, [], usualIn([])],
  ['an account of four days', { '91987': [10, 9], '994771': [400, 3] }, ['994771'], weeks(4, SHOP, SHOP_BUSY)],
];

describe('maintenance/traffic: what looks like fraud', () => {
  for (const [name, now, found, before = usual] of CASES) {
    it(`${name}: ${found.length === 0 ? 'nothing' : found.join(', ')}`, () => {
      expect([...suspicious(recent(now), before).keys()].sort()).to.deep.equal(found);
    });
  }

  /** [messages, requested codes, of these approved]; every message arrives. */
  const codes = (traffic: Readonly<Record<string, readonly [messages: number, asked: number, approved: number]>>) =>
    Object.entries(traffic).map(([prefix, [messages, asked, approved]]) => ({
      ...{ prefix, messages, ripe: messages, delivered: messages, asked, approved },
    }));
  const CODES: readonly (readonly [name: string, now: Parameters<typeof codes>[0], found: readonly string[]])[] = [
    ['growth: codes are given back', { '91987': [500, 500, 410], '97150': [200, 200, 150] }, []],
    [
      'pumping: messages arrive, and no code is given back',
      { '91987': [100, 90, 75], '994771': [80, 80, 1] },
      ['994771'],
    ],
    ['pumping beside little: compared with the weeks before', { '994771': [80, 80, 1] }, ['994771']],
    [
      'fewer are given back everywhere: the sign-in page is ill',
      { '91987': [400, 400, 40], '97150': [300, 300, 20] },
      [],
    ],
    ['a few codes to a new prefix', { '91987': [100, 90, 75], '994771': [40, 19, 0] }, []],
    ['many messages to a prefix without codes', { '91987': [100, 90, 75], '994771': [80, 0, 0] }, []],
  ];
  for (const [name, now, found] of CODES) {
    it(`codes, ${name}: ${found.length === 0 ? 'nothing' : found.join(', ')}`, () => {
      const week = usualIn(
        Array.from({ length: 7 }, (_, day) => ({
          ...{ atMs: day * DAY_MS, prefixes: codes({ '91987': [60, 60, 50], '97150': [20, 20, 15] }) },
        })),
      );
      const held = suspicious(new Map(codes(now).map(({ prefix, ...of }) => [prefix, of])), week);
      expect([...held.keys()].sort()).to.deep.equal(found);
      for (const seen of held.values()) expect(seen.converted).to.be.below(0.05);
    });
  }

  it('says nothing of codes where nobody knows what is usual', () => {
    const seen = suspicious(
      new Map([['994771', { messages: 90, ripe: 90, delivered: 1, asked: 30, approved: 0 }]]),
      usual,
    );
    expect(seen.get('994771')).not.to.have.property('converted');
  });

  it('waits until enough of the messages had time to arrive', () => {
    const early = new Map([['994771', { messages: 400, ripe: 10, delivered: 0 }]]);
    expect([...suspicious(early, usual).keys()]).to.deep.equal([]);
  });

  it('tells what it saw beside what is usual', () => {
    const seen = suspicious(recent({ '91987': [100, 95], '97150': [300, 15] }), usual).get('97150');
    expect(seen).to.include({ messages: 300, portion: 0.75, delivered: 0.05, usualMessages: 30 });
    expect(seen?.usualDelivered).to.be.within(0.9, 0.93);
  });

  it('takes two hours that follow one another together for the busiest', () => {
    const hour = (atMs: number, n: number) => ({ atMs, prefixes: [{ prefix: '91987', ...counts([n, n]) }] });
    const { prefixes } = usualIn([hour(0, 5), hour(HOUR_MS, 7), hour(3 * HOUR_MS, 9)]);
    expect(prefixes.get('91987')?.peak).to.equal(12);
  });

  it('tells prefixes by the country code and three digits', () => {
    const numbers = ['919876543210', '12125550123', '79161234567', '994771234567', '971501234567', '447700900123'];
    expect(numbers.map(prefixOf)).to.deep.equal(['91987', '1212', '7916', '994771', '971501', '44770']);
  });
});
