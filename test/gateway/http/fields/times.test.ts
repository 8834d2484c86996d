import fc from 'fast-check';
import { FieldProblems } from '../../../../gateway/http/field-problems.ts';
import { readField } from '../../../../gateway/http/fields/field.ts';
import { SCHEDULE_FIELDS } from '../../../../gateway/http/fields/times.ts';

const NOW = new Date('2026-10-24T10:00:00.000Z');

/** The time, or the reason why it cannot be booked. */
function readScheduleTime(text: string, now: Date): unknown {
  const problems = new FieldProblems();
  const reading = { now, account: {}, config: { maxSegments: 10, validityHours: 48 } };
  const time = readField(SCHEDULE_FIELDS.schedule_time, text, 'schedule_time', reading, problems);
  const [{ code, detail } = {}] = problems.listed;
  if (code === undefined) return time;
  if (code === 'invalid_time') return 'not_a_time';
  return detail === 'It must be later than now.' ? 'not_later' : 'too_far';
}

/** Why `text` is no valid time. */
function refusalOf(text: string): string | undefined {
  const problems = new FieldProblems();
  const reading = { now: NOW, account: {}, config: { maxSegments: 10, validityHours: 48 } };
  readField(SCHEDULE_FIELDS.schedule_time, text, 'schedule_time', reading, problems);
  return problems.listed[0]?.detail;
}

describe('schedule_time', () => {
  for (const text of [
    '2026-11-31T10:00:00Z',
    '2026-11-01T24:00:00Z',
    '2026-12-31T23:59:60Z',
    '2026-11-01T10:00:00+24:00',
  ]) {
    it(`says that a time of the right form does not exist: ${text}`, () => {
      expect(refusalOf(text)).to.equal('There is no such day, time of day or offset.');
    });
  }

  for (const text of ['2026-11-01', '2026-11-01T10:00:00', '2026-11-01T10:00:00+0530', '1795000000']) {
    it(`shows the form to who writes another: ${text}`, () => {
      expect(refusalOf(text)).to.match(/for example 2027-01-31T18:00:00\+05:30/);
    });
  }

  /** Name, the time as given, its instant, and the answered time if it differs. */
  const good: readonly [string, string, string, string?][] = [
    ['in UTC', '2026-10-25T00:00:00+00:00', '2026-10-25T00:00:00.000Z'],
    ['with Z', '2026-10-25T00:00:00Z', '2026-10-25T00:00:00.000Z', '2026-10-25T00:00:00+00:00'],
    ['with -00:00', '2026-10-25T00:00:00-00:00', '2026-10-25T00:00:00.000Z', '2026-10-25T00:00:00+00:00'],
    ['in India', '2026-11-01T10:00:00+05:30', '2026-11-01T04:30:00.000Z'],
    ['in Nepal', '2026-11-01T10:00:00+05:45', '2026-11-01T04:15:00.000Z'],
    ['in Newfoundland', '2026-10-24T23:59:59-03:30', '2026-10-25T03:29:59.000Z'],
    ['on the day after, in UTC', '2026-10-24T23:00:00-08:00', '2026-10-25T07:00:00.000Z'],
    ['on the day before, in UTC', '2026-11-01T01:00:00+14:00', '2026-10-31T11:00:00.000Z'],
    ['in the far west', '2026-11-27T21:59:59-12:00', '2026-11-28T09:59:59.000Z'],
    ['one second ahead', '2026-10-24T12:00:01+02:00', '2026-10-24T10:00:01.000Z'],
    ['one millisecond ahead', '2026-10-24T10:00:00.001Z', '2026-10-24T10:00:00.001Z', '2026-10-24T10:00:00.001+00:00'],
    ['with half a second', '2026-10-25T10:00:00.5+05:30', '2026-10-25T04:30:00.500Z', '2026-10-25T10:00:00.500+05:30'],
    ['with a fraction of nothing', '2026-10-25T10:00:00.000Z', '2026-10-25T10:00:00.000Z', '2026-10-25T10:00:00+00:00'],
    ['exactly 35 days ahead', '2026-11-28T10:00:00Z', '2026-11-28T10:00:00.000Z', '2026-11-28T10:00:00+00:00'],
    // The last Sunday of October in Europe: 02:30 comes twice, and the offset says which.
    ['the first 02:30 of the night', '2026-10-25T02:30:00+02:00', '2026-10-25T00:30:00.000Z'],
    ['the second 02:30 of the night', '2026-10-25T02:30:00+01:00', '2026-10-25T01:30:00.000Z'],
    ['the same in New York', '2026-11-01T01:30:00-04:00', '2026-11-01T05:30:00.000Z'],
    ['the same in New York, later', '2026-11-01T01:30:00-05:00', '2026-11-01T06:30:00.000Z'],
  ];
  for (const [what, text, at, scheduledFor = text] of good) {
    it(`takes a time ${what}: ${text}`, () => {
      expect(readScheduleTime(text, NOW)).to.deep.equal({ at: new Date(at), scheduledFor });
    });
  }

  it('takes an hour that clocks leave out in spring: the offset says what is meant', () => {
    const time = readScheduleTime('2027-03-28T02:30:00+01:00', new Date('2027-03-27T00:00:00Z'));

    expect(time).to.deep.equal({ at: new Date('2027-03-28T01:30:00Z'), scheduledFor: '2027-03-28T02:30:00+01:00' });
  });

  it('takes the 29th of February of a leap year only', () => {
    const [leap, none] = [new Date('2028-02-01T00:00:00Z'), new Date('2027-02-01T00:00:00Z')];

    expect(readScheduleTime('2028-02-29T12:00:00+05:30', leap)).to.deep.include({
      at: new Date('2028-02-29T06:30:00Z'),
    });
    expect(readScheduleTime('2027-02-29T12:00:00+05:30', none)).to.equal('not_a_time');
  });

  const bad: readonly [string, string, string][] = [
    ['now', '2026-10-24T10:00:00Z', 'not_later'],
    ['now, elsewhere', '2026-10-24T15:30:00+05:30', 'not_later'],
    ['a moment ago', '2026-10-24T09:59:59.999Z', 'not_later'],
    ['later on the clock, but over', '2026-10-24T15:29:59+05:30', 'not_later'],
    ['years ago', '2020-01-01T00:00:00Z', 'not_later'],
    ['a millisecond too far', '2026-11-28T10:00:00.001Z', 'too_far'],
    ['too far by its offset', '2026-11-28T10:00:00-00:01', 'too_far'],
    ['beyond what timers can count', '2026-12-24T10:00:00Z', 'too_far'],
    ['in another century', '2126-10-24T10:00:00Z', 'too_far'],
    ['without an offset', '2026-10-25T10:00:00', 'not_a_time'],
    ['without a time', '2026-10-25', 'not_a_time'],
    ['without seconds', '2026-10-25T10:00+05:30', 'not_a_time'],
    ['with a short offset', '2026-10-25T10:00:00+05', 'not_a_time'],
    ['with an offset without colon', '2026-10-25T10:00:00+0530', 'not_a_time'],
    ['with an offset of a day', '2026-10-25T10:00:00+24:00', 'not_a_time'],
    ['with an offset of 60 minutes', '2026-10-25T10:00:00+05:60', 'not_a_time'],
    ['with the name of a zone', '2026-10-25T10:00:00 IST', 'not_a_time'],
    ['with a zone in brackets', '2026-10-25T10:00:00+05:30[Asia/Kolkata]', 'not_a_time'],
    ['with a blank for the T', '2026-10-25 10:00:00+05:30', 'not_a_time'],
    ['with a plus that a form made a blank', '2026-10-25T10:00:00 05:30', 'not_a_time'],
    ['in the 13th month', '2026-13-01T10:00:00Z', 'not_a_time'],
    ['on the 31st of November', '2026-11-31T10:00:00Z', 'not_a_time'],
    ['on day 0', '2026-11-00T10:00:00Z', 'not_a_time'],
    ['at 24:00', '2026-10-25T24:00:00Z', 'not_a_time'],
    ['in the 60th minute', '2026-10-25T10:60:00Z', 'not_a_time'],
    ['in a leap second', '2026-10-25T23:59:60Z', 'not_a_time'],
    ['as a number', '1793000000', 'not_a_time'],
    ['in words', 'tomorrow', 'not_a_time'],
    ['empty', '', 'not_a_time'],
    ['with something behind', '2026-10-25T10:00:00Z\n', 'not_a_time'],
    ['with something before', ' 2026-10-25T10:00:00Z', 'not_a_time'],
    ['with a sign before the year', '+002026-10-25T10:00:00Z', 'not_a_time'],
  ];
  for (const [what, text, why] of bad) {
    it(`refuses a time ${what}: ${JSON.stringify(text)}`, () => {
      expect(readScheduleTime(text, NOW)).to.equal(why);
    });
  }

  it('answers the same instant in the same offset, whatever they are', () => {
    const offset = fc.tuple(
      fc.constantFrom('+', '-'),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 35 * 86_400 }), offset, (seconds, [sign, hours, minutes]) => {
        const at = new Date(NOW.getTime() + seconds * 1_000);
        const shift = (sign === '+' ? 1 : -1) * (hours * 60 + minutes) * 60_000;
        const digits = (value: number) => String(value).padStart(2, '0');
        const local = new Date(at.getTime() + shift).toISOString().slice(0, 19);
        const text = `${local}${sign}${digits(hours)}:${digits(minutes)}`;

        const time = readScheduleTime(text, NOW);

        expect(time).to.deep.equal({ at, scheduledFor: shift === 0 ? text.replace('-00:00', '+00:00') : text });
      }),
    );
  });
});
