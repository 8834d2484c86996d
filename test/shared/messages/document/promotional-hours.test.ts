import { expect } from 'chai';
import {
  DEFAULT_PROMOTIONAL_HOURS,
  type PromotionalHours,
  promotionalDeferral,
  promotionalHours,
} from '../../../../shared/messages/document/promotional-hours.ts';

describe('promotional hours', () => {
  const NIGHT: PromotionalHours = { fromMinute: 22 * 60, untilMinute: 6 * 60 };
  const ALWAYS: PromotionalHours = { fromMinute: 600, untilMinute: 600 };
  /** When the message is accepted (IST), the hours, when it leaves (IST; undefined: at once). */
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
