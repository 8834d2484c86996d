import type { ListedCarrier } from '../carriers/carrier-condition.ts';
import type { WaitingAtCarrier } from '../messages/settlement/unknowns.ts';
import type { Condition, Finding } from './condition.ts';

/** Few tries are no alarm: each rule has a least number. */

export interface CarriersSeen {
  readonly now: Date;
  readonly carriers: readonly CarrierSeen[];
  /** The fates of messages, by carrier and by operators' route. */
  readonly traffic: readonly TrafficSeen[];
}

export interface CarrierSeen extends ListedCarrier {
  /** Answers to submits in the last quarter of an hour, and the newest of them (`newestAnswers`). */
  readonly quarter: Answers;
  readonly newest: Answers;
  /** Refusals within the last hour since the last accepted submit. Absent: none. */
  readonly refusals?: { readonly count: number; readonly since: Date };
  /** Submits of the last five minutes but the last one; answers of any kind in the last five. */
  readonly submitted: number;
  readonly answered: number;
  /** In the last half hour. */
  readonly binds30: number;
  /** Submits accepted in the last hour but the last ten minutes; receipts of the last 30 minutes. */
  readonly accepted: number;
  readonly receipts: number;
  /** Receipts of the last minutes that fit no message; receipts of the last hour with a word that no table has. */
  readonly orphans: number;
  readonly unknownWords: number;
  /** Unanswered submits that wait; those that the policy decided in the last hour. */
  readonly unknown: WaitingAtCarrier;
  readonly decided: number;
  readonly retrying: WaitingAtCarrier;
}

export interface Answers {
  readonly accepted: number;
  /** For good, for now, or because of the session. */
  readonly refused: number;
  readonly throttled: number;
}

/** `recent`: this hour and the one before. `usual`: the week before that. */
export interface TrafficSeen {
  readonly kind: 'carrier' | 'route';
  readonly id: string;
  readonly recent: Fates;
  readonly usual: Fates;
}

/** Numbers of messages by fate. `ended`: in any way. */
export interface Fates {
  readonly made: number;
  readonly ended: number;
  readonly delivered: number;
  readonly rejected: number;
}

/** Waiting messages are counted up to this, and shown as "at least" beyond it. */
export const COUNTED_MAX = 1_000;

/** A lost bind usually comes back at once. */
const DOWN_MS = 30_000;
/** This many refusals in a row, over at least `ALL_MS`, mean that the carrier refuses everything. */
const ALL_TRIES = 10;
const ALL_MS = 60_000;
/** Minutes. */
export const QUARTER = 15;
/** The least number of refusals in a quarter of an hour, and their least part of all answers. */
const PART_TRIES = 20;
/** From so many minutes on, any answer counts: `PART_TRIES` refusals in a quarter of an hour are one in 45 seconds. */
const QUIET_MINUTES = 5;
const PART = 0.2;
const SILENT_TRIES = 5;
const THROTTLED_TRIES = 100;
const THROTTLED_PART = 0.1;
/** Least numbers of ended messages in the last two hours, and in the week before, for a rate to mean something. */
const ENDED_MIN = 100;
const USUAL_MIN = 1_000;
/** Fewer delivered than this part, or so much less than in the week before. */
const DELIVERED_PART = 0.5;
const DELIVERED_LESS = 0.2;
/** The least number of accepted messages for which receipts should have come. */
const RECEIPTS_MIN = 50;
const ORPHANS_MIN = 50;

export const CARRIER_CONDITIONS = {
  'carrier.down': {
    title: 'A carrier is not bound',
    how: 'It has had no bind for 30 seconds, or no process holds it. Some of its binds only: a look. A paused carrier has none on purpose.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'Read the reason. A refused bind: correct system id, password or bind kind. Unreachable: address, firewall, certificate, or ask the carrier. The manual, "A bind is stuck".',
      },
    },
    find: ({ carriers, now }) =>
      carriers.flatMap(({ carrier, condition, words, binds }): Finding[] => {
        if (condition === 'bound' || condition === 'paused') return [];
        const troubled = binds.flatMap(({ state, since, trouble }) =>
          state === 'bound' ? [] : (trouble?.since ?? since),
        );
        const since = troubled.sort((a, b) => a.getTime() - b.getTime())[0];
        if (since !== undefined && now.getTime() - since.getTime() < DOWN_MS) return [];
        const severity = condition === 'partly_bound' || condition === 'binding' ? 'look' : 'urgent';
        const why = words.replace(/ since \d{4}-\S+/, ''); // `since` says it
        return [{ subject: { kind: 'carrier', id: carrier._id }, words: `${carrier.name}: ${why}.`, since, severity }];
      }),
  },
  'carrier.refusing': {
    title: 'A carrier refuses messages',
    how: `It has accepted nothing for a minute and refused ${ALL_TRIES} submits or more; or more than a fifth of a quarter of an hour, ${PART_TRIES} or more, and of the newest answers, too.`,
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'The code says what it refuses; often the balance there, a sender, a DLT template or id. Ask the carrier, and pause it if another one can take its messages. The manual, "A carrier refuses".',
      },
    },
    find: ({ carriers, now }) => carriers.flatMap((seen) => refusing(seen, now)),
  },
  'carrier.silent': {
    title: 'A carrier does not answer',
    how: `It has answered nothing for five minutes, and got ${SILENT_TRIES} submits or more before the last minute.`,
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'Ask the carrier. `npm run ops -- bind list` shows each bind. The manual, "Messages wait".',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, submitted, answered }) =>
        submitted >= SILENT_TRIES && answered === 0 ? of(carrier, `${carrier.name} has submits and answers none.`) : [],
      ),
  },
  'carrier.breaking': {
    title: 'The binds of a carrier break',
    how: 'They were made more than three times each in half an hour.',
    concerns: {
      operator: {
        severity: 'look',
        todo: '`grep bind_closed ~/.pm2/logs/smpp-out.log` has the reasons. Ask the carrier, or take fewer binds.',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, binds30 }) =>
        binds30 > 3 * carrier.binds
          ? of(carrier, `The binds of ${carrier.name} broke again and again in the last half hour.`)
          : [],
      ),
  },
  'carrier.throttling': {
    title: 'A carrier throttles',
    how: `More than a tenth of a quarter of an hour, of ${THROTTLED_TRIES} answers or more, said that submits come too fast.`,
    concerns: {
      operator: {
        severity: 'look',
        todo: 'The worker slows down by itself. Agree on a rate with the carrier (`carrier update --per-second`).',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, quarter }) =>
        total(quarter) >= THROTTLED_TRIES && quarter.throttled > THROTTLED_PART * total(quarter)
          ? of(carrier, `${carrier.name} answers more than a tenth of the submits with "throttled".`)
          : [],
      ),
  },
  'carrier.few_delivered': {
    title: 'A carrier delivers few messages',
    how: `Of ${ENDED_MIN} messages or more of the last two hours less than half arrived, or a fifth less than in the week before.`,
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Reports by carrier show the error codes. Ask the carrier, or send by another one (`ops route`).',
      },
    },
    find: ({ traffic, carriers }) =>
      traffic.flatMap((one) => {
        const carrier = carriers.find(({ carrier: { _id } }) => _id === one.id)?.carrier;
        return one.kind === 'carrier' && carrier !== undefined ? fewDelivered(one, carrier.name) : [];
      }),
  },
  'receipts.stopped': {
    title: 'Receipts of a carrier have stopped',
    how: `It has accepted ${RECEIPTS_MIN} messages or more within the last hour, and sent no receipt for 30 minutes, while in the week before most messages got one.`,
    concerns: {
      operator: {
        severity: 'urgent',
        todo: 'Ask the carrier. Messages stay `sent` meanwhile, and nothing is lost when the receipts come later.',
      },
    },
    find: ({ carriers, traffic }) =>
      carriers.flatMap(({ carrier, accepted, receipts }) => {
        const usual = traffic.find(({ kind, id }) => kind === 'carrier' && id === carrier._id)?.usual;
        const mostEnd = usual !== undefined && usual.made >= USUAL_MIN && usual.ended > usual.made / 2;
        return mostEnd && accepted >= RECEIPTS_MIN && receipts === 0
          ? of(carrier, `${carrier.name} accepts messages and sends no receipts.`)
          : [];
      }),
  },
  'receipts.unmatched': {
    title: 'Receipts of a carrier fit no message',
    how: `More than ${ORPHANS_MIN} of the last minutes.`,
    concerns: {
      operator: { severity: 'look', todo: 'The manual, "Messages stay `sent` although the carrier sends receipts".' },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, orphans }) =>
        orphans > ORPHANS_MIN ? of(carrier, `Receipts of ${carrier.name} fit no message.`) : [],
      ),
  },
  'receipts.unknown_word': {
    title: 'Receipts of a carrier have an unknown word',
    how: 'In the last hour, a word that no table has.',
    concerns: {
      operator: {
        severity: 'look',
        todo: '`grep receipt_word_unknown ~/.pm2/logs/smpp-out.log` shows it; `carrier update --receipt-word` teaches it.',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, unknownWords }) =>
        unknownWords > 0 ? of(carrier, `Receipts of ${carrier.name} have a word that no table has.`) : [],
      ),
  },
  'carrier.decided': {
    title: 'Submits were never answered, and their policy decided',
    how: 'In the last hour, the unknown policy of a carrier decided about messages.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Ask the carrier what became of them. The manual, "Submits without an answer".',
      },
    },
    find: ({ carriers }) =>
      carriers.flatMap(({ carrier, decided }) =>
        decided > 0
          ? of(carrier, `${carrier.name} never answered some submits; its unknown policy decided about them.`)
          : [],
      ),
  },
  'route.refused': {
    title: 'Messages of a route are refused',
    how: `More than a fifth of the last two hours, ${PART_TRIES} or more, and twice as many as in the week before.`,
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Reports by route show the error codes. See which carrier refuses, and who may take over (`ops route`).',
      },
    },
    find: ({ traffic }) =>
      traffic.flatMap(({ kind, id, recent, usual }) => {
        const isMany = recent.rejected >= PART_TRIES && recent.rejected > PART * recent.made;
        const isUsual = usual.made >= USUAL_MIN && recent.rejected / recent.made < (2 * usual.rejected) / usual.made;
        return kind === 'route' && isMany && !isUsual
          ? [{ subject: { kind: 'route', id }, words: `More than a fifth of the messages of ${id} are refused.` }]
          : [];
      }),
  },
  'route.few_delivered': {
    title: 'A route delivers few messages',
    how: `Of ${ENDED_MIN} messages or more of the last two hours less than half arrived, or a fifth less than in the week before.`,
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Reports by route and carrier show where they fail. Give another carrier more weight (`ops route`).',
      },
    },
    find: ({ traffic }) =>
      traffic.flatMap((one) => (one.kind === 'route' ? fewDelivered(one, `The route ${one.id}`) : [])),
  },
  'carrier.unanswered': {
    title: 'A carrier has not answered submits',
    how: 'Submits were written and never answered, and wait for an answer, a receipt or its unknown policy.',
    concerns: {
      operator: {
        severity: 'look',
        todo: 'Its unknown policy decides about them when the unknown wait is over. Ask the carrier whether it has them. The manual, "Submits without an answer".',
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
} satisfies Readonly<Record<string, Condition<CarriersSeen>>>;

function refusing({ carrier, measured, newest, quarter, refusals }: CarrierSeen, now: Date): Finding[] {
  const subject = { kind: 'carrier', id: carrier._id } as const;
  const last = measured?.lastRefusal;
  const why = last === undefined ? '' : `: ${last.reason} (${last.code})`;
  if (refusals !== undefined && refusals.count >= ALL_TRIES && now.getTime() - refusals.since.getTime() >= ALL_MS) {
    return [{ subject, words: `${carrier.name} refuses all messages${why}.`, since: refusals.since }];
  }
  const isMany = quarter.refused >= PART_TRIES && quarter.refused > PART * total(quarter);
  if (!isMany || newest.refused <= PART * total(newest)) return [];
  return [{ subject, words: `${carrier.name} refuses more than a fifth of the messages${why}.` }];
}

/**
 * How a carrier answers now: by the fewest last minutes that have enough answers. So a carrier that has recovered stays
 * recovered when its traffic becomes quiet: no wider window brings the refusals back.
 */
export function newestAnswers(inMinutes: (minutes: number) => Answers): Answers {
  for (let minutes = 1; minutes < QUARTER; minutes += 1) {
    const answers = inMinutes(minutes);
    if (total(answers) >= (minutes < QUIET_MINUTES ? ALL_TRIES : 1)) return answers;
  }
  return inMinutes(QUARTER);
}

function fewDelivered({ kind, id, recent, usual }: TrafficSeen, name: string): Finding[] {
  if (recent.ended < ENDED_MIN) return [];
  const part = recent.delivered / recent.ended;
  const before = usual.ended < USUAL_MIN ? undefined : usual.delivered / usual.ended;
  if (part >= DELIVERED_PART && (before === undefined || part >= before - DELIVERED_LESS)) return [];
  const words = `${name} delivers ${percent(part)} of the messages${before === undefined ? '' : `, ${percent(before)} in the week before`}.`;
  return [{ subject: { kind, id }, words }];
}

/** In steps of five, so that the words do not change all the time. */
function percent(part: number): string {
  return `about ${Math.round(part * 20) * 5} %`;
}

function of({ _id }: { readonly _id: string }, words: string): Finding[] {
  return [{ subject: { kind: 'carrier', id: _id }, words }];
}

function total({ accepted, refused, throttled }: Answers): number {
  return accepted + refused + throttled;
}

/** `1 submit`, `at least 1,000 submits`. */
function counted({ count }: WaitingAtCarrier, noun: string): string {
  const number = count.toLocaleString('en-GB');
  return `${count >= COUNTED_MAX ? 'at least ' : ''}${number} ${noun}${count === 1 ? '' : 's'}`;
}
