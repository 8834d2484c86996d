import { type Daytimes, daytimeOpenings, type Held, NEVER } from '../../../../shared/carriers/routing/daytime.ts';

const DAY = { from: '09:00', to: '21:00' };
const NIGHT = { from: '22:00', to: '06:00' };
const EARLY = { from: '02:30', to: '04:00' };
const INDIA = '919876543210';
const BERLIN = '4915112345678';
const MANHATTAN = '12125550123';
const MOSCOW = '79161234567';
const KOSOVO = '38344123456';

describe("a recipient's daytime", () => {
  /** Name, recipient, daytimes of account and route, now, time of leaving (undefined: at once). */
  const rows: readonly [what: string, to: string, daytimes: Daytimes, now: string, opening: string | undefined][] = [
    ['no setting', INDIA, [undefined, undefined], '2026-11-21T20:00:00Z', undefined],
    ['inside', INDIA, [DAY], '2026-11-21T15:29:59Z', undefined],
    ['the end is exclusive', INDIA, [DAY], '2026-11-21T15:30:00Z', '2026-11-22T03:30:00Z'],
    ['after midnight', INDIA, [DAY], '2026-11-21T20:00:59Z', '2026-11-22T03:30:00Z'],
    [
      'the narrower of account and route',
      INDIA,
      [DAY, { from: '10:00', to: '22:00' }],
      '2026-11-22T03:45:00Z',
      '2026-11-22T04:30:00Z',
    ],
    ['a route alone', INDIA, [undefined, DAY], '2026-11-21T15:30:00Z', '2026-11-22T03:30:00Z'],
    ['of another country', INDIA, [{ ...DAY, countries: ['AE'] }], '2026-11-21T20:00:00Z', undefined],
    ['of its country', INDIA, [{ ...DAY, countries: ['AE', 'IN'] }], '2026-11-21T20:00:00Z', '2026-11-22T03:30:00Z'],
    ['over midnight, inside', INDIA, [NIGHT], '2026-11-21T20:00:00Z', undefined],
    ['over midnight, outside', INDIA, [NIGHT], '2026-11-21T12:00:00Z', '2026-11-21T16:30:00Z'],
    [
      'from and to are the same: at any time',
      INDIA,
      [{ from: '09:00', to: '09:00' }],
      '2026-11-21T20:00:00Z',
      undefined,
    ],
    ['before summer time begins', BERLIN, [DAY], '2026-03-28T21:00:00Z', '2026-03-29T07:00:00Z'],
    ['before summer time ends', BERLIN, [DAY], '2026-10-24T21:00:00Z', '2026-10-25T08:00:00Z'],
    ['the hour that is skipped', BERLIN, [EARLY], '2026-03-29T00:00:00Z', '2026-03-29T01:30:00Z'],
    ['the US: it is nine in Honolulu', MANHATTAN, [DAY], '2026-11-21T15:00:00Z', '2026-11-21T19:00:00Z'],
    ['the US: it is before nine in the evening in New York', MANHATTAN, [DAY], '2026-11-22T01:59:00Z', undefined],
    ['the US: it is nine in the evening in New York', MANHATTAN, [DAY], '2026-11-22T02:00:00Z', '2026-11-22T19:00:00Z'],
    [
      'Russia: from Kaliningrad to Kamchatka two hours are left',
      MOSCOW,
      [DAY],
      '2026-11-21T02:00:00Z',
      '2026-11-21T07:00:00Z',
    ],
    [
      'Russia: never, if it is too short',
      MOSCOW,
      [{ from: '09:00', to: '15:00' }],
      '2026-11-21T02:00:00Z',
      NEVER.toISOString(),
    ],
    ['account and route have nothing in common', INDIA, [DAY, NIGHT], '2026-11-21T02:00:00Z', NEVER.toISOString()],
    ['Kosovo, which has no zone of its own', KOSOVO, [DAY], '2026-11-21T21:00:00Z', '2026-11-22T08:00:00Z'],
    ['a number of no country', '88213012345678', [DAY], '2026-11-21T02:00:00Z', undefined],
  ];
  for (const [what, to, daytimes, now, opening] of rows) {
    it(`${what}: ${opening ?? 'at once'}`, () => {
      const expected = opening === undefined ? undefined : new Date(opening);
      expect(daytimeOpenings(new Date(now))(daytimes, { to, lane: 1 })).to.deep.equal(expected);
    });
  }

  it('holds neither the urgent lane nor answers to a customer', () => {
    const openingOf = daytimeOpenings(new Date('2026-11-21T20:00:00Z'));
    const free: readonly Held[] = [
      { to: INDIA, lane: 0 },
      { to: INDIA, lane: 1, inReplyTo: 'msg_1' },
    ];
    expect(free.map((message) => openingOf([DAY], message))).to.deep.equal([undefined, undefined]);
    expect(openingOf([DAY], { to: INDIA, lane: 4 })).to.deep.equal(new Date('2026-11-22T03:30:00Z'));
  });
});
