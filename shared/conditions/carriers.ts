import type { WaitingAtCarrier } from '../messages/settlement/unknowns.ts';
import type { Condition, Finding } from './condition.ts';
import { type Answers, type CarrierSeen, COUNTED_MAX, type Installation } from './seen.ts';

/** What may be wrong with carriers. Few tries are no alarm: each rule has a least number. */

/** So many refusals in a row, none accepted in between, over at least `ALL_MS`. */
const ALL_TRIES = 10;
const ALL_MS = 60_000;
/** So many refusals in a quarter of an hour, and so large a part of all answers. */
const PART_TRIES = 20;
const PART = 0.2;

export const CARRIER_CONDITIONS = {
  'carrier.down': {
    title: 'A carrier is not bound',
    how: 'It has no bind, or no process holds it. Some of its binds only: a look. A paused carrier has none on purpose.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'Read the reason. A refused bind: correct system id, password or bind kind. Unreachable: address, firewall, certificate, or ask the carrier. The manual, "A bind is stuck".',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, condition, words, binds }): Finding[] => {
        if (condition === 'bound' || condition === 'paused') return [];
        const since = binds.flatMap(({ trouble }) => trouble?.since ?? []).sort((a, b) => a.getTime() - b.getTime())[0];
        const severity = condition === 'partly_bound' || condition === 'binding' ? 'look' : 'urgent';
        return [
          { subject: { kind: 'carrier', id: carrier._id }, words: `${carrier.name}: ${words}.`, since, severity },
        ];
      }),
  },
  'carrier.refusing': {
    title: 'A carrier refuses messages',
    how: `It has accepted nothing for a minute and refused ${ALL_TRIES} submits or more; or more than a fifth of a quarter of an hour, ${PART_TRIES} or more, and still does.`,
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'The code says what it refuses; often the balance there, a sender, a DLT template or id. Ask the carrier, and pause it if another one can take its messages. The manual, "A carrier refuses".',
      },
    },
    find: ({ carriers, now }) => carriers.flatMap((seen) => refusing(seen, now)),
  },
  'carrier.unanswered': {
    title: 'A carrier has not answered submits',
    how: 'Submits were written and never answered, and wait for an answer, a receipt or the carrier’s unknown-policy.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Its setting unknown-policy decides about them when unknown-wait is over. Ask the carrier whether it has them. The manual, "Submits without an answer".',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, unknown }) =>
        unknown.count === 0
          ? []
          : {
              subject: { kind: 'carrier', id: carrier._id },
              words: `${carrier.name} never answered ${counted(unknown, 'submit')}.`,
              since: unknown.oldest,
            },
      ),
  },
  'messages.retrying': {
    title: 'Messages wait for their next try',
    how: 'A carrier refused them for now; the oldest was made more than a minute ago.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'They are tried again by themselves, up to five times. If the carrier goes on refusing, they fail: see why it refuses.',
      },
    },
    find: ({ carriers, now }) =>
      carriers.flatMap(({ carrier, retrying }) =>
        retrying.oldest === undefined || now.getTime() - retrying.oldest.getTime() < 60_000
          ? []
          : {
              subject: { kind: 'carrier', id: carrier._id },
              words: `${counted(retrying, 'message')} of ${carrier.name} ${retrying.count === 1 ? 'waits' : 'wait'} for the next try.`,
              since: retrying.oldest,
            },
      ),
  },
} satisfies Readonly<Record<string, Condition<Installation>>>;

function refusing({ carrier, measured, minute, quarter, refusals }: CarrierSeen, now: Date): Finding[] {
  const subject = { kind: 'carrier', id: carrier._id } as const;
  const last = measured?.lastRefusal;
  const why = last === undefined ? '' : `: ${last.reason} (${last.code})`;
  if (refusals !== undefined && refusals.count >= ALL_TRIES && now.getTime() - refusals.since.getTime() >= ALL_MS) {
    return [{ subject, words: `${carrier.name} refuses all messages${why}.`, since: refusals.since }];
  }
  const still = total(minute) < ALL_TRIES || minute.refused > PART * total(minute);
  if (quarter.refused < PART_TRIES || quarter.refused <= PART * total(quarter) || !still) return [];
  return [{ subject, words: `${carrier.name} refuses more than a fifth of the messages${why}.` }];
}

function total({ accepted, refused, throttled }: Answers): number {
  return accepted + refused + throttled;
}

/** `1 submit`, `at least 1,000 submits`. */
function counted({ count }: WaitingAtCarrier, noun: string): string {
  const number = count.toLocaleString('en-GB');
  return `${count >= COUNTED_MAX ? 'at least ' : ''}${number} ${noun}${count === 1 ? '' : 's'}`;
}
