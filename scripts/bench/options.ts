import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { APPS, type AppName, usualGateways } from '../../shared/platform/processes/apps.ts';
import type { CarrierHabits } from './world.ts';

const PHASES = [
  'start',
  'accept',
  'whole',
  'one-account',
  'bulk',
  'schedules',
  'late',
  'rate',
  'lone',
  'idle',
  'growth',
] as const;
export type Phase = (typeof PHASES)[number];
/** `growth` takes half an hour to fill the store, so it must be named. */
const USUAL_PHASES = PHASES.filter((phase) => phase !== 'growth');

/** README.md explains each option. */
export interface BenchOptions {
  readonly phases: readonly Phase[];
  readonly messages: number;
  readonly warmUp: number;
  readonly connections: number;
  readonly accounts: number;
  readonly keys: number;
  readonly gateways: number;
  /** SMPP workers, each with its own carrier; all carriers serve the same path. */
  readonly smppWorkers: number;
  readonly window: number;
  /** Each event is one webhook for each message. */
  readonly events: readonly ('message.sent' | 'message.delivered')[];
  readonly carrier: CarrierHabits;
  /** Messages a second of the open loops, run in sequence. */
  readonly rates: readonly number[];
  readonly rateSeconds: number;
  /** Bulk sends, and recipients in each. */
  readonly batches: number;
  readonly batchSize: number;
  /** All booked for the same second. */
  readonly schedules: number;
  readonly lone: number;
  readonly idleSeconds: number;
  /** Messages in the store at the end of the phase `growth`. */
  readonly stored: number;
  /** Number of cores that everything is pinned to; 0: not pinned. */
  readonly cores: number;
  readonly profile: readonly AppName[];
  /** Compare with this peer, in place of the phases. */
  readonly against: 'kannel' | undefined;
  readonly rounds: number;
  readonly json: boolean;
  readonly build: boolean;
}

const NUMBERS = {
  messages: ['20000', 'messages of the closed loops'],
  'warm-up': ['2000', 'messages before anything is measured'],
  connections: ['32', 'HTTP connections of the closed loops'],
  accounts: ['20', 'accounts that send, each with one webhook endpoint'],
  keys: ['200', 'keys, spread over the accounts, at most 50 each'],
  gateways: [String(usualGateways(availableParallelism())), 'gateway processes'],
  'smpp-workers': ['1', 'SMPP worker processes, each with a carrier'],
  window: ['50', 'unanswered submit_sm of the bind'],
  'response-delay': ['0', 'milliseconds from submit_sm to its answer'],
  'receipt-delay': ['100', 'milliseconds from submit_sm to its receipt'],
  'deliver-window': ['100', 'unanswered receipts of the carrier'],
  'rate-seconds': ['20', 'length of each open loop'],
  batches: ['10', 'bulk sends'],
  'batch-size': ['10000', 'recipients of each'],
  schedules: ['10000', 'schedules that are due in one second'],
  lone: ['50', 'messages sent one at a time on an idle system'],
  'idle-seconds': ['10', 'how long idle CPU is measured'],
  stored: ['10000000', 'with --phases growth: messages that the store holds at the end'],
  rounds: ['3', 'with --against: how often both are measured'],
  cores: ['0', 'pin all processes to so many cores; 0 pins nothing'],
} as const;
const RATES = '50,500,1000';
type NumberName = keyof typeof NUMBERS;

/** `--quick`: a rough result in 15 seconds. */
const QUICK: Partial<Record<NumberName, string>> = {
  messages: '3000',
  'warm-up': '500',
  'rate-seconds': '4',
  batches: '2',
  'batch-size': '2000',
  schedules: '1000',
  lone: '10',
  'idle-seconds': '3',
  stored: '20000',
};

/** Defaults of `--against kannel`; the figures in docs and issues were measured with them. */
const AGAINST: Partial<Record<NumberName, string>> = {
  messages: '60000',
  'warm-up': '40000',
  accounts: '4',
  window: '500',
};

/** Throws one sentence for the person who typed it. */
export function readOptions(argv: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      ...Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, { type: 'string' as const }])),
      phases: { type: 'string', default: USUAL_PHASES.join(',') },
      rate: { type: 'string', default: RATES },
      events: { type: 'string', default: 'delivered' },
      profile: { type: 'string', default: '' },
      against: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const given: Readonly<Record<string, unknown>> = values;
  const number = (name: NumberName, min = 0): number => {
    const text =
      given[name] ??
      (values.quick ? QUICK[name] : undefined) ??
      (values.against === undefined ? undefined : AGAINST[name]) ??
      NUMBERS[name][0];
    const value = Number(text);
    if (!Number.isInteger(value) || value < min) {
      throw new RangeError(`--${name} must be a whole number${min === 0 ? '' : `, at least ${min}`}, not "${text}"`);
    }
    return value;
  };
  return {
    phases: namesIn(values.phases, PHASES, 'phases'),
    messages: number('messages'),
    warmUp: number('warm-up'),
    // Without connections or accounts nothing would be sent.
    connections: number('connections', 1),
    accounts: number('accounts', 1),
    keys: number('keys', 1),
    gateways: number('gateways', 1),
    smppWorkers: number('smpp-workers'),
    window: number('window', 1), // minimum of the carrier's setting
    events: values.events === 'both' ? ['message.sent', 'message.delivered'] : ['message.delivered'],
    carrier: {
      responseDelayMs: number('response-delay'),
      receiptDelayMs: number('receipt-delay', 1), // later delays are multiples of it
      deliverWindow: number('deliver-window', 1), // with 0 no receipt would come
    },
    rates: ratesIn(values.rate),
    rateSeconds: number('rate-seconds'),
    batches: number('batches'),
    batchSize: number('batch-size'),
    schedules: number('schedules'),
    lone: number('lone'),
    idleSeconds: number('idle-seconds'),
    stored: number('stored'),
    cores: number('cores'),
    profile: namesIn(values.profile, APPS, 'profile'),
    against: values.against === undefined ? undefined : namesIn(values.against, ['kannel'], 'against')[0],
    rounds: number('rounds'),
    json: values.json,
    build: !values['no-build'],
  };
}

export function helpText(): string {
  const rows = [
    ...Object.entries(NUMBERS).map(([name, [standard, meaning]]) => [`--${name} N`, `${meaning} (${standard})`]),
    ['--phases LIST', `any of ${PHASES.join(',')} (all but growth)`],
    ['--rate LIST', `messages a second of the open loops, one after the other (${RATES})`],
    ['--events delivered|both', 'which events are posted: message.delivered alone, or message.sent too (delivered)'],
    ['--profile LIST', `take CPU profiles of these apps: ${APPS.join(',')}`],
    ['--against kannel', `measure Debian's Kannel in turn with the product and print the ratios`],
    ['--quick', 'few messages: whether it works and roughly how fast'],
    ['--json', 'print the figures as one JSON object'],
    ['--no-build', 'use dist/ as it is'],
  ];
  return rows.map(([flag = '', meaning]) => `  ${flag.padEnd(26)}${meaning}`).join('\n');
}

function ratesIn(text: string): number[] {
  const rates = text.split(',').map(Number);
  if (rates.every((rate) => Number.isInteger(rate) && rate > 0)) return rates;
  throw new RangeError(`--rate must be whole numbers, at least 1, with commas between, not "${text}"`);
}

function namesIn<T extends string>(text: string, known: readonly T[], flag: string): T[] {
  const words = text.split(',').filter((word) => word !== '');
  return words.map((word) => {
    const name = known.find((each) => each === word);
    if (name === undefined) throw new RangeError(`--${flag} knows ${known.join(', ')}; not "${word}"`);
    return name;
  });
}
