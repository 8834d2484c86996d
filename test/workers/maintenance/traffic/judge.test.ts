import { HOUR_MS } from '../../../../shared/messages/statistics.ts';
import { prefixOf } from '../../../../shared/messages/traffic/hold.ts';
import type { Counts } from '../../../../workers/maintenance/statistics/prefix-hours.ts';
import { suspicious, usualIn } from '../../../../workers/maintenance/traffic/judge.ts';

const DAY_MS = 24 * HOUR_MS;
/** [messages, of these delivered], by prefix. What is not delivered had time to be. */
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

/** What happens in two hours, and which prefixes look like fraud. */
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

  /** [messages, codes that were asked for, of these approved]; every message arrives. */
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
