import { applyChange, changeUpdate } from '../../../../shared/messages/document/change.ts';
import type { MessageState } from '../../../../shared/messages/document/message.ts';
import { recipientProblem } from '../../../../shared/messages/document/recipient.ts';
import {
  DEFAULT_PROMOTIONAL_HOURS,
  HOURS_LANE,
  laneOf,
  PRIORITIES,
  type PromotionalHours,
  pathOf,
  promotionalDeferral,
  promotionalHours,
  ROUTES,
} from '../../../../shared/messages/document/routing.ts';
import { enter, isBeforeSent, isNext, mayBecome, STATES } from '../../../../shared/messages/document/status.ts';
import { makeMessage } from '../../../support/make.ts';

const NAMES = Object.keys(STATES) as MessageState[]; // the table's own keys
const AT = new Date('2026-11-21T10:00:00Z');
const HOUR_MS = 3_600_000;

describe('messages/status', () => {
  it('every state but that of a customer’s message is reached from another', () => {
    const reached = NAMES.filter((state) => NAMES.some((from) => from !== state && isNext(from, state)));

    expect(NAMES.filter((state) => !reached.includes(state))).to.deep.equal(['received']);
  });

  it('only a queued message is claimed, and only what did not end goes back into the queue', () => {
    expect(NAMES.filter((from) => isNext(from, 'submitting'))).to.deep.equal(['queued']);
    expect(NAMES.filter((from) => isNext(from, 'queued'))).to.deep.equal(['submitting', 'waiting', 'sent']);
    expect(NAMES.filter(isBeforeSent)).to.deep.equal(['queued', 'submitting', 'waiting']);
  });

  it('an end stays, except that what failed or expired may have arrived, and what arrived may be read', () => {
    const exits = NAMES.filter((state) => STATES[state].final).map((state) => [state, STATES[state].next]);

    expect(Object.fromEntries(exits)).to.deep.equal({
      delivered: ['read'],
      failed: ['delivered', 'read'],
      expired: ['delivered', 'read'],
      rejected: [],
      read: [],
      received: [],
    });
  });

  it('a late receipt makes a failed message delivered for 72 hours', () => {
    const history = [{ state: 'failed', at: AT }] as const;

    expect(mayBecome('failed', 'delivered', history, new Date(AT.getTime() + 72 * HOUR_MS))).to.equal(true);
    expect(mayBecome('failed', 'delivered', history, new Date(AT.getTime() + 72 * HOUR_MS + 1))).to.equal(false);
    expect(mayBecome('delivered', 'failed', history, AT)).to.equal(false);
  });

  it('a change to a state that the table does not allow is refused, in memory and as an update', () => {
    const message = makeMessage({ state: 'delivered' });

    expect(() => enter('received', 'sent')).to.throw('a message cannot go from received to sent');
    expect(() => applyChange(message, { state: 'failed' })).to.throw('from delivered to failed');
    expect(() => changeUpdate(message, { state: 'queued' })).to.throw('from delivered to queued');
    expect(applyChange(message, { state: 'delivered' }).state).to.equal('delivered');
  });
});

describe('routing', () => {
  it('knows the routes of the specification and nothing else', () => {
    expect(ROUTES).to.deep.equal(['transactional', 'promotional']);
  });

  it('lets transactional messages leave before promotional ones', () => {
    expect(laneOf('transactional')).to.equal(1);
    expect(laneOf('promotional')).to.equal(3);
  });

  it('knows the priorities and nothing else', () => {
    expect(PRIORITIES).to.have.members(['otp', 'normal', 'low']);
  });

  it('lets otp leave first and low after normal, promotional last of all', () => {
    expect(laneOf('transactional', 'otp')).to.equal(0);
    expect(laneOf('transactional', 'normal')).to.equal(laneOf('transactional'));
    expect(laneOf('transactional', 'low')).to.equal(2);
    for (const priority of PRIORITIES) expect(laneOf('promotional', priority)).to.equal(3);
  });

  it('has a lane of its own for promotional messages under DLT, which is shut at night', () => {
    for (const priority of PRIORITIES) {
      expect(laneOf('promotional', priority, 'on')).to.equal(HOURS_LANE);
      expect(laneOf('transactional', priority, 'on')).to.equal(laneOf('transactional', priority));
    }
  });

  it('gives each route a path of its own', () => {
    expect(ROUTES.map(pathOf)).to.deep.equal(['transactional', 'promotional']);
  });
});

describe('recipientProblem', () => {
  for (const to of ['12345678', '919876543210', '123456789012345']) {
    it(`takes ${to}`, () => {
      expect(recipientProblem(to)).to.equal(undefined);
    });
  }

  const refused: readonly [string, RegExp][] = [
    ['', /empty/],
    ['+919876543210', /Remove the plus/],
    ['00919876543210', /leading 00/],
    ['09876543210', /never begins with 0/],
    ['0', /never begins with 0/],
    ['1234567', /has 7 digits/],
    ['1234567890123456', /has 16 digits/],
    ['91 98765 43210', /Remove spaces/],
    ['(919)876-543210', /Remove spaces/],
    ['919876543210\n', /Remove the character \\u000a/],
    ['+44 (0)20 7946 0958', /without \(0\)/],
    ['919876543210,919876543211', /several numbers/],
    ['+919876543210; +919876543211', /several numbers/],
    ['919876543210 919876543211', /several numbers/],
    ['919876543210.0', /column as text/],
    ['919876543210,0', /column as text/],
    ['9.19877E+11', /column as text/],
    ['91987654321o', /only the digits/],
    ['٩١٩٨٧٦٥٤٣٢١٠', /Remove the character \\u0669/],
  ];
  for (const [to, reason] of refused) {
    it(`refuses ${JSON.stringify(to)} and says how to correct it`, () => {
      expect(recipientProblem(to)).to.match(reason);
    });
  }
});

describe('promotional hours', () => {
  const NIGHT: PromotionalHours = { fromMinute: 22 * 60, untilMinute: 6 * 60 };
  const ALWAYS: PromotionalHours = { fromMinute: 600, untilMinute: 600 };
  /** Acceptance (IST), the hours, time of leaving (IST; undefined: at once). */
  const rows: readonly [string, PromotionalHours, string | undefined][] = [
    ['2026-11-21T10:00:00+05:30', DEFAULT_PROMOTIONAL_HOURS, undefined],
    ['2026-11-21T20:59:59+05:30', DEFAULT_PROMOTIONAL_HOURS, undefined],
    ['2026-11-21T21:00:00+05:30', DEFAULT_PROMOTIONAL_HOURS, '2026-11-22T10:00:00+05:30'],
    ['2026-11-21T23:59:59+05:30', DEFAULT_PROMOTIONAL_HOURS, '2026-11-22T10:00:00+05:30'],
    ['2026-11-22T00:00:00+05:30', DEFAULT_PROMOTIONAL_HOURS, '2026-11-22T10:00:00+05:30'],
    ['2026-11-22T05:29:00+05:30', DEFAULT_PROMOTIONAL_HOURS, '2026-11-22T10:00:00+05:30'],
    ['2026-11-22T09:59:59+05:30', DEFAULT_PROMOTIONAL_HOURS, '2026-11-22T10:00:00+05:30'],
    ['2026-12-31T22:00:00+05:30', DEFAULT_PROMOTIONAL_HOURS, '2027-01-01T10:00:00+05:30'],
    ['2026-11-21T23:00:00+05:30', NIGHT, undefined],
    ['2026-11-21T05:59:00+05:30', NIGHT, undefined],
    ['2026-11-21T06:00:00+05:30', NIGHT, '2026-11-21T22:00:00+05:30'],
    ['2026-11-21T21:59:00+05:30', NIGHT, '2026-11-21T22:00:00+05:30'],
    ['2026-11-21T03:00:00+05:30', ALWAYS, undefined],
  ];
  for (const [now, hours, leaves] of rows) {
    it(`accepted ${now}, leaves ${leaves ?? 'at once'} (from minute ${hours.fromMinute} to ${hours.untilMinute})`, () => {
      const expected = leaves === undefined ? undefined : new Date(leaves);
      expect(promotionalDeferral(hours, new Date(now))).to.deep.equal(expected);
    });
  }

  it('come from the settings', () => {
    expect(promotionalHours({ promotionalFrom: '10:00', promotionalUntil: '21:00' })).to.deep.equal(
      DEFAULT_PROMOTIONAL_HOURS,
    );
    expect(promotionalHours({ promotionalFrom: '09:30', promotionalUntil: '23:59' })).to.deep.equal({
      fromMinute: 570,
      untilMinute: 1_439,
    });
  });
});
