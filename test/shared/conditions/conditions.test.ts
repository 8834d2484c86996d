import { CARRIER_DEFAULTS } from '../../../shared/carriers/carrier.ts';
import {
  type Answers,
  type CarrierSeen,
  newestAnswers,
  type TrafficSeen,
} from '../../../shared/conditions/carriers.ts';
import { CONDITIONS, type ConditionName, READ, WATCHED } from '../../../shared/conditions/catalogue.ts';
import {
  conditionsOf,
  findAll,
  PRESENT,
  readCarrierConditions,
  readOperatorConditions,
  type Severity,
  storeConditions,
} from '../../../shared/conditions/condition.ts';
import type { Installation } from '../../../shared/conditions/installation.ts';
import { lookedAt } from '../../support/looked-at.ts';
import { useStore } from '../../support/store.ts';

const NOW = new Date('2026-11-22T14:00:00Z');
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const answers = (accepted: number, refused = 0, throttled = 0) => ({ accepted, refused, throttled });

const AIRTEL: CarrierSeen = {
  carrier: {
    ...{ ...CARRIER_DEFAULTS, _id: 'airtel', name: 'Airtel', binds: 2, tls: true, createdAt: ago(60) },
    ...{ host: 'smpp.example.com', port: 2775, systemId: 'harkara', password: '' },
  },
  ...{ condition: 'bound', words: 'bound (2 of 2)', binds: [] },
  measured: {
    ...{ since: ago(60), unanswered: [], answers: {}, receipts: {} },
    lastRefusal: { code: '0x45', reason: 'submit_sm failed', at: NOW },
  },
  ...{
    quarter: answers(1_000, 200, 100),
    newest: answers(50),
    submitted: 800,
    answered: 800,
    binds30: 6,
  },
  ...{ accepted: 900, receipts: 700, orphans: 50, unknownWords: 0, decided: 0 },
  ...{ unknown: { count: 0 }, retrying: { count: 3, oldest: ago(0.5) } },
};
const traffic = (kind: 'carrier' | 'route', id: string): TrafficSeen => ({
  ...{ kind, id },
  recent: { made: 1_000, ended: 900, delivered: 700, rejected: 100 },
  usual: { made: 50_000, ended: 45_000, delivered: 42_000, rejected: 2_000 },
});
const HEALTHY: Installation = {
  ...{ now: NOW, missing: [], ignoredProxies: [], carriers: [AIRTEL] },
  traffic: [traffic('carrier', 'airtel'), traffic('route', 'india')],
  queues: [
    {
      path: 'transactional',
      lane: 'transactional',
      waiting: 9,
      more: false,
      accounts: 1,
      oldest: { at: ago(4), account: 'acc_1' },
    },
    {
      path: 'promotional',
      lane: 'promotional under DLT',
      waiting: 9,
      more: false,
      accounts: 1,
      oldest: { at: ago(900), account: 'acc_1' },
    },
  ],
  api: { requests: 10_000, failed: 99, sends: 1_000, slow: 10 },
  posts: { all: 1_000, failed: 500 },
  store: { writeMs: 999, disk: { dir: '/data', freeBytes: 5e9, bytes: 100e9 } },
  clocks: [{ machine: 'vm-1', aheadMs: -4_999 }],
  certificates: [{ whose: 'The certificate of Airtel', carrier: 'airtel', until: ago(-15 * 24 * 60) }],
};
const airtel = (change: Partial<CarrierSeen>): Partial<Installation> => ({ carriers: [{ ...AIRTEL, ...change }] });
const route = (recent: object, usual: object = {}): Partial<Installation> => {
  const one = traffic('route', 'india');
  return { traffic: [{ ...one, recent: { ...one.recent, ...recent }, usual: { ...one.usual, ...usual } }] };
};

const CASES: readonly (readonly [ConditionName, Partial<Installation>, words: RegExp])[] = [
  ['process.missing', { missing: ['smpp'] }, /No smpp process/],
  ['proxy.ignored', { ignoredProxies: ['10.0.0.7'] }, /10\.0\.0\.7/],
  ['carrier.none', { carriers: [], traffic: [] }, /No carrier/],
  [
    'carrier.down',
    airtel({ condition: 'refused', words: 'bind refused: wrong password (0x0E) since 2026-11-22T13:00:00.000Z' }),
    /^Airtel: bind refused: wrong password \(0x0E\)\.$/,
  ],
  [
    'carrier.refusing',
    airtel({ refusals: { count: 10, since: ago(1) } }),
    /^Airtel refuses all messages: submit_sm failed \(0x45\)\.$/,
  ],
  ['carrier.refusing', airtel({ quarter: answers(79, 21), newest: answers(7, 3) }), /more than a fifth/],
  ['carrier.silent', airtel({ answered: 0, submitted: 5 }), /answers none/],
  ['carrier.breaking', airtel({ binds30: 7 }), /broke again and again/],
  ['carrier.throttling', airtel({ quarter: answers(89, 0, 11) }), /throttled/],
  ['carrier.unanswered', airtel({ unknown: { count: 1_000, oldest: ago(5) } }), /at least 1,000 submits/],
  ['carrier.decided', airtel({ decided: 1 }), /unknown policy decided/],
  ['messages.retrying', airtel({ retrying: { count: 60, oldest: ago(1) } }), /60 messages of Airtel wait/],
  ['receipts.stopped', airtel({ receipts: 0 }), /sends no receipts/],
  ['receipts.unmatched', airtel({ orphans: 51 }), /fit no message/],
  ['receipts.unknown_word', airtel({ unknownWords: 1 }), /no table has/],
  [
    'carrier.few_delivered',
    { traffic: [{ ...traffic('carrier', 'airtel'), recent: { made: 200, ended: 100, delivered: 49, rejected: 0 } }] },
    /^Airtel delivers about 50 %/,
  ],
  ['route.few_delivered', route({ delivered: 640 }), /about 70 % of the messages, about 95 % in the week before/],
  ['route.refused', route({ rejected: 201 }), /More than a fifth/],
  [
    'queue.waiting',
    { queues: HEALTHY.queues.map((one) => ({ ...one, oldest: { ...one.oldest, at: ago(901) } })) },
    /^9 transactional messages wait on transactional\.$/,
  ],
  ['api.failing', { api: { ...HEALTHY.api, failed: 101 } }, /5xx/],
  ['api.slow', { api: { ...HEALTHY.api, slow: 11 } }, /longer than a second/],
  ['webhooks.failing', { posts: { all: 1_000, failed: 501 } }, /half of all posts/],
  ['store.slow', { store: { writeMs: 1_000 } }, /a second/],
  [
    'disk.low',
    { store: { writeMs: 0, disk: { dir: '/data', freeBytes: 4.9e9, bytes: 100e9 } } },
    /a tenth of the disk/,
  ],
  ['clock.skewed', { clocks: [{ machine: 'vm-1', aheadMs: -5_001 }] }, /behind/],
  [
    'certificate.ending',
    { certificates: [{ whose: 'The certificate of Airtel', until: ago(-13 * 24 * 60) }] },
    /ends on 2026-12-05/,
  ],
];

describe('the list of conditions', () => {
  const found = (seen: Partial<Installation>) => findAll(WATCHED, { ...HEALTHY, ...seen }, NOW);

  it('finds nothing just below every limit', () => {
    expect(found({})).to.deep.equal([]);
  });

  for (const [name, seen, words] of CASES) {
    it(`${name}: ${words.source}`, () => {
      const [one, ...others] = found(seen);
      expect(others).to.deep.equal([]);
      expect(one?.name).to.equal(name);
      expect(one?.words).to.match(words);
    });
  }

  it('a carrier that refuses no more in quiet traffic does not refuse for a quarter of an hour', () => {
    const quarter = answers(3, 60);
    const refusing = (...minutes: readonly Answers[]) => {
      const newest = newestAnswers((last) => minutes[last - 1] ?? minutes.at(-1) ?? quarter);
      return found(airtel({ quarter, newest })).length === 1;
    };
    const none = answers(0);

    expect(refusing(none, none, none, none, answers(0, 60))).to.equal(true);
    expect(refusing()).to.equal(true); // nothing newer is known
    expect(refusing(none, none, none, none, answers(3))).to.equal(false);
    expect(refusing(none, answers(60), answers(60, 60))).to.equal(false); // recovered, then quiet
    expect(refusing(none, none, none, none, none, none, answers(60), answers(60, 60))).to.equal(false);
  });

  it('few messages are no alarm', () => {
    const few = {
      quarter: answers(0, 19),
      newest: answers(0, 9),
      submitted: 4,
      answered: 0,
      accepted: 49,
      receipts: 0,
    };
    const recent = { made: 19, ended: 99, delivered: 0, rejected: 19 };
    const quiet = {
      ...airtel({ ...few, refusals: { count: 9, since: ago(50) } }),
      traffic: HEALTHY.traffic.map((one) => ({ ...one, recent })),
      ...{ api: { requests: 4, failed: 4, sends: 99, slow: 99 }, posts: { all: 19, failed: 19 } },
    };

    expect(found(quiet)).to.deep.equal([]);
  });

  it('nobody looks: the reader says so', () => {
    const stopped = (watchedAt: Date | undefined, startedAt: Date | undefined) =>
      findAll(READ, { watchedAt, startedAt, now: NOW }, NOW).map(({ since }) => since);

    expect(stopped(ago(0.9), ago(60))).to.deep.equal([]);
    expect(stopped(ago(1), ago(60))).to.deep.equal([ago(1)]);
    expect(stopped(undefined, ago(60))).to.deep.equal([ago(60)]);
    expect(stopped(undefined, undefined)).to.deep.equal([NOW]);
  });

  it('in the first minute after a start nobody can have looked', () => {
    const seen = { startedAt: ago(0.9), now: NOW };

    expect(findAll(READ, { ...seen, watchedAt: undefined }, NOW)).to.deep.equal([]);
    expect(findAll(READ, { ...seen, watchedAt: ago(1_000) }, NOW)).to.deep.equal([]);
  });

  it('has a case for each that is watched', () => {
    expect([...new Set(CASES.map(([name]) => name))].sort()).to.deep.equal(Object.keys(WATCHED).sort());
  });

  it('says of each whom it concerns and what they can do', () => {
    for (const [name, { concerns, how, title }] of Object.entries(CONDITIONS)) {
      expect(Object.keys(concerns), name).not.to.deep.equal([]);
      for (const { todo } of Object.values(concerns)) expect(todo, name).to.match(/^[A-Z`].*[.)"`]$/);
      expect(`${title} ${how}`, name).to.match(/^[A-Z].*\.$/);
    }
  });
});

describe('the store of conditions', () => {
  const store = useStore();
  const now = new Date('2026-11-22T14:00:00Z');
  const condition = (name: string, severity: Severity, minutes: number) => {
    const since = new Date(now.getTime() - minutes * 60_000);
    const find = () => [{ subject: { kind: 'carrier', id: `${minutes}` } as const, words: name, since }];
    const concerns = { operator: { severity, todo: 'Look.' } };
    return findAll({ [name]: { title: name, how: name, concerns, find } }, undefined, now);
  };
  before(async () => {
    const ended = condition('carrier.down', 'urgent', 900);
    const present = [
      ...Array.from({ length: 300 }, (_, i) => condition('account.paused', 'look', i)),
      ...[1, 3, 2].map((minutes) => condition('carrier.refusing', 'urgent', minutes)),
    ].flat();
    await storeConditions(store.db, 'installation', [...ended, ...present], now);
    await storeConditions(store.db, 'installation', present, now);
  });

  it('gives operators the most urgent first, then the oldest, and reads no more than it gives', async () => {
    const found = (await readOperatorConditions(store.db, 5)).map(({ _id }) => _id);

    expect(found).to.deep.equal([
      ...['carrier.refusing:3', 'carrier.refusing:2', 'carrier.refusing:1'],
      ...['account.paused:299', 'account.paused:298'],
    ]);
    const page = conditionsOf(store.db)
      .find({ ...PRESENT, 'concerns.operator.severity': { $exists: true } })
      .sort({ 'concerns.operator.severity': -1, since: 1 })
      .limit(5);
    expect((await lookedAt(store.db, page)).documents).to.be.at.most(10);
  });

  it('gives the conditions of carriers that hold', async () => {
    expect((await readCarrierConditions(store.db)).map(({ name }) => name)).to.deep.equal(
      Array.from({ length: 3 }, () => 'carrier.refusing'),
    );
  });
});
