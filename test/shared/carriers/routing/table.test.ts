import { type Availability, mayTake } from '../../../../shared/carriers/routing/availability.ts';
import { MAX_CARRIERS, type RouteDocument, type RouteMatch } from '../../../../shared/carriers/routing/route.ts';
import { type Routable, RouteTable } from '../../../../shared/carriers/routing/table.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';

const ACCOUNT = newId('acc');
const NOW = new Date('2026-11-22T10:00:00Z');
const CARRIERS = ['a', 'b', 'c'].map((_id) => ({ _id, paths: ['transactional'] }));
const TO_INDIA: Routable = { account: ACCOUNT, to: '919876543210', sender: 'HARKRA', route: 'transactional', lane: 1 };

function route(_id: string, match: RouteMatch, more: Partial<RouteDocument> = {}): RouteDocument {
  const groups = [[{ carrier: 'a', weight: 1 }], [{ carrier: 'b', weight: 1 }]];
  return { _id, order: 0, match, groups, waitSeconds: 30, createdAt: NOW, ...more };
}

const winner = (routes: readonly RouteDocument[], message = TO_INDIA): string | undefined =>
  new RouteTable(routes, CARRIERS).matches(message)[0]?._id;

describe('RouteTable', () => {
  describe('which route counts', () => {
    it('the longest prefix; a country counts as its code, and a little more', () => {
      const routes = [
        route('rest', {}),
        route('short', { prefixes: ['91'] }),
        route('long', { prefixes: ['919', '44'] }),
      ];

      expect(winner(routes)).to.equal('long');
      expect(winner([...routes.slice(0, 2), route('india', { countries: ['IN'] })])).to.equal('india');
      expect(winner([...routes, route('india', { countries: ['IN'] })])).to.equal('long');
      expect(winner(routes, { ...TO_INDIA, to: '4915112345678' })).to.equal('rest');
    });

    it('one for the account before a longer prefix, and the highest order before all', () => {
      const routes = [route('long', { prefixes: ['9198'] }), route('own', { accounts: [ACCOUNT] })];

      expect(winner(routes)).to.equal('own');
      expect(winner([...routes, route('first', {}, { order: 1 })])).to.equal('first');
      expect(winner(routes, { ...TO_INDIA, account: newId('acc') })).to.equal('long');
    });

    it('sender, kind of sender, priority and routing group, in this order', () => {
      const rest = [route('group', { routes: ['transactional'] }), route('all', {})];
      const kind = route('kind', { senderKinds: ['name'] });
      const priority = route('priority', { priorities: ['normal'] });

      expect(winner([...rest, kind, priority, route('sender', { senders: ['HARKRA'] })])).to.equal('sender');
      expect(winner([...rest, kind, priority])).to.equal('kind');
      expect(winner([...rest, priority])).to.equal('priority');
      expect(winner(rest)).to.equal('group');
      expect(winner([...rest, kind], { ...TO_INDIA, sender: '56161' })).to.equal('group');
      expect(winner([...rest, priority], { ...TO_INDIA, lane: 0 })).to.equal('group');
    });

    it('the country of a shared code is that of the number', () => {
      const routes = [route('us', { countries: ['US'] }), route('ca', { countries: ['CA'] })];

      expect(winner(routes, { ...TO_INDIA, to: '12125550123' })).to.equal('us');
      expect(winner(routes, { ...TO_INDIA, to: '14165550123' })).to.equal('ca');
    });
  });

  it('a message that no route matches, or that one refuses, has no route; without routes the groups of carriers count', () => {
    const elsewhere = new RouteTable([route('uk', { prefixes: ['44'] })], CARRIERS).resolve(TO_INDIA);
    const refused = new RouteTable([route('no', {}, { groups: [] })], CARRIERS).resolve(TO_INDIA);

    expect([elsewhere.kind, refused.kind]).to.deep.equal(['no_route', 'no_route']);
    expect(new RouteTable([], CARRIERS).resolve(TO_INDIA)).to.deep.equal({ kind: 'path', path: 'transactional' });
    expect(new RouteTable([], []).resolve(TO_INDIA).kind).to.equal('path');
  });

  it('weights share out the recipients, each of whom keeps its carrier', () => {
    const group = [
      { carrier: 'a', weight: 70 },
      { carrier: 'b', weight: 30 },
      { carrier: 'c', weight: 0 },
    ];
    const table = new RouteTable([route('w', {}, { groups: [group] })], CARRIERS);
    const counts = new Map<string, number>();
    for (let i = 0; i < 10_000; i++) {
      const found = table.resolve({ ...TO_INDIA, to: String(919_876_500_000 + i) });
      const path = found.kind === 'path' ? found.path : '';
      expect(table.served.has(path)).to.equal(true);
      counts.set(path, (counts.get(path) ?? 0) + 1);
    }

    expect([...counts.keys()].sort(), 'c only while the others cannot').to.deep.equal(['@30:a>b>c', '@30:b>a>c']);
    expect(counts.get('@30:a>b>c')).to.be.within(6_800, 7_200);
  });

  it('every path that refusals can lead to is served, by those that have not refused', () => {
    const table = new RouteTable([route('r', {})], CARRIERS);
    let open = ['transactional', '@30:a>b'];
    for (let refusals = 0; refusals < MAX_CARRIERS; refusals++) {
      for (const path of open) expect(table.served.has(path), path).to.equal(true);
      open = open.flatMap((path) => CARRIERS.flatMap(({ _id }) => table.after(path, _id) ?? []));
    }

    expect(table.after('@30:a>b', 'a')).to.equal('@30:b');
    expect(table.after('@30:b', 'b')).to.equal(undefined);
    expect(table.after('transactional', 'b')).to.equal('@30:c>a');
    expect(table.served.get('@30:c>a')).to.deep.equal(['c', 'a']);
  });
});

describe('mayTake', () => {
  const seconds = (ago: number): Date => new Date(NOW.getTime() - ago * 1_000);
  const may = (carrier: string, others: Readonly<Record<string, Availability>>, as: 'up' | 'tripped' = 'up'): boolean =>
    mayTake('@30:a>b>c', ['a', 'b', 'c'], carrier, as, new Map(Object.entries(others)), NOW);
  const UP: Availability = { state: 'up' };

  const CASES: readonly (readonly [string, Readonly<Record<string, Availability>>, string])[] = [
    ['all well: the first', { a: UP, b: UP, c: UP }, 'a'],
    ['the first is down: the next', { a: { state: 'down' }, b: UP, c: UP }, 'b'],
    ['the first two are paused and down', { a: { state: 'paused' }, b: { state: 'down' }, c: UP }, 'c'],
    ['the first is behind, and not for long enough', { a: { ...UP, behindSince: seconds(20) }, b: UP, c: UP }, 'a'],
    [
      'the first is behind for too long: the next helps',
      { a: { ...UP, behindSince: seconds(31) }, b: UP, c: UP },
      'ab',
    ],
    ['the first refuses nearly everything', { a: { state: 'tripped' }, b: UP, c: UP }, 'b'],
    [
      'all that are there refuse nearly everything',
      { a: { state: 'tripped' }, b: { state: 'down' }, c: { state: 'tripped' } },
      'a',
    ],
  ];
  for (const [what, availabilities, takers] of CASES) {
    it(`${what}: ${takers}`, () => {
      const bound = Object.entries(availabilities).filter(([, { state }]) => state === 'up' || state === 'tripped');

      const takes = bound.filter(([one, { state }]) =>
        may(one, availabilities, state === 'tripped' ? 'tripped' : 'up'),
      );

      expect(takes.map(([one]) => one).join('')).to.equal(takers);
    });
  }
});
