import { RecentCounts } from './pace/pace.ts';
import { STATUS } from './smpp/pdu.ts';
import type { Submit } from './smpp/submit.ts';
import type { Outcome } from './smsc/receipts.ts';

/** What happens to messages whose destination ends in `ending`. */
export interface MagicNumber {
  readonly ending: string;
  readonly meaning: string;
  readonly outcome: Outcome;
  /** The first `times` submits of a text to a number get `instead`, the next one `outcome`; then it starts over. */
  readonly first?: { readonly times: number; readonly instead: Outcome };
  /** Only this part of a long text gets `outcome`; the others are delivered. */
  readonly onlyPart?: number;
}

const DELIVERED: Outcome = { receipts: [{ stat: 'DELIVRD' }] };

/** docs/magic-numbers.md has the same table for people. */
export const MAGIC_NUMBERS: readonly MagicNumber[] = [
  { ending: '101', meaning: 'failed', outcome: { receipts: [{ stat: 'UNDELIV', err: '001' }] } },
  { ending: '102', meaning: 'expired', outcome: { receipts: [{ stat: 'EXPIRED', err: '027' }] } },
  { ending: '103', meaning: 'rejected by the network', outcome: { receipts: [{ stat: 'REJECTD', err: '052' }] } },
  {
    ending: '104',
    meaning: 'delivered, receipt 10 times later',
    outcome: { receipts: [{ stat: 'DELIVRD', delays: 10 }] },
  },
  {
    ending: '105',
    meaning: 'delivered, receipt before the submit_sm_resp',
    outcome: { answer: 'after-receipt', receipts: [{ stat: 'DELIVRD', delays: 0 }] },
  },
  { ending: '106', meaning: 'accepted, no receipt ever', outcome: { receipts: [] } },
  {
    ending: '107',
    meaning: 'throttled (0x58) 3 times, then delivered',
    outcome: DELIVERED,
    first: { times: 3, instead: { status: STATUS.throttled } },
  },
  { ending: '108', meaning: 'refused at submit (0x0B)', outcome: { status: STATUS.invalidDestination } },
  {
    ending: '109',
    meaning: 'accepted and delivered, but no submit_sm_resp',
    outcome: { ...DELIVERED, answer: 'never' },
  },
  {
    ending: '110',
    meaning: 'delivered, the same receipt twice',
    outcome: { receipts: [{ stat: 'DELIVRD' }, { stat: 'DELIVRD', delays: 2 }] },
  },
  {
    ending: '111',
    meaning: 'queue full (0x14) twice, then delivered',
    outcome: DELIVERED,
    first: { times: 2, instead: { status: STATUS.messageQueueFull } },
  },
  {
    ending: '112',
    meaning: 'delivered, receipt with the id in the other notation',
    outcome: { receipts: [{ stat: 'DELIVRD', otherNotation: true }] },
  },
  {
    ending: '113',
    meaning: 'second segment refused at submit (0x0B), the others delivered',
    outcome: { status: STATUS.invalidDestination },
    onlyPart: 2,
  },
  {
    ending: '114',
    meaning: 'failed by DLT scrubbing (err 633)',
    outcome: { receipts: [{ stat: 'UNDELIV', err: '633' }] },
  },
  {
    ending: '115',
    meaning: 'intermediate notification ENROUTE, then delivered',
    outcome: {
      receipts: [
        { stat: 'ENROUTE', intermediate: true },
        { stat: 'DELIVRD', delays: 2 },
      ],
    },
  },
  {
    ending: '116',
    meaning: 'receipt that says ACCEPTD, then delivered',
    outcome: { receipts: [{ stat: 'ACCEPTD' }, { stat: 'DELIVRD', delays: 2 }] },
  },
  { ending: '117', meaning: 'receipt that says UNKNOWN', outcome: { receipts: [{ stat: 'UNKNOWN', err: '255' }] } },
  {
    ending: '118',
    meaning: 'accepted and delivered, but the connection breaks instead of an answer (first time)',
    outcome: DELIVERED,
    first: { times: 1, instead: { ...DELIVERED, answer: 'cut' } },
  },
];

const ENDING_DIGITS = 3;

/** Texts whose submits are counted; the oldest are forgotten first. */
const MAX_COUNTED = 10_000;

type MagicSubmit = Pick<Submit, 'to' | 'body'> & Partial<Pick<Submit, 'concatenation'>>;

/** The table's behaviour, with counts of its own for each call. */
export function magicNumbers(): (submit: MagicSubmit) => Outcome {
  const byEnding = new Map(MAGIC_NUMBERS.map((magic) => [magic.ending, magic]));
  const counts = new RecentCounts(MAX_COUNTED);

  return (submit) => {
    const magic = byEnding.get(submit.to.slice(-ENDING_DIGITS));
    if (magic === undefined) return DELIVERED;
    if (magic.onlyPart !== undefined && magic.onlyPart !== submit.concatenation?.part) return DELIVERED;
    if (magic.first === undefined) return magic.outcome;

    // Without the user data header, whose reference a client may change on its second try.
    const key = `${submit.to}\n${submit.body.toString('latin1')}`;
    if (counts.add(key) <= magic.first.times) return magic.first.instead;
    counts.forget(key);
    return magic.outcome;
  };
}
