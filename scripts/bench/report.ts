import { type GrowthResult, growthRows } from './growth.ts';
import {
  FIRST_RATE,
  FIRST_SECONDS,
  type IdleResult,
  LATE_MS,
  type LatencyResult,
  type LateResult,
  type LoopResult,
  type RateResult,
  type ScheduleResult,
  type Times,
} from './phases.ts';
import { type ByProcess, type Memory, norm, own } from './usage.ts';
import { YARDSTICK_US } from './yardstick.ts';

/** `--json` prints it unchanged. */
export interface Report {
  readonly machine: {
    readonly node: string;
    readonly cpu: string;
    readonly cores: number;
    readonly store: string;
    /** CPU of the yardstick's request (yardstick.ts), a measure of the machine's speed. */
    readonly yardstickUs: number;
  };
  readonly settings: Readonly<Record<string, unknown>>;
  readonly start?: RateResult;
  readonly accept?: LoopResult;
  readonly whole?: LoopResult;
  readonly oneAccount?: LoopResult;
  readonly bulk?: LoopResult;
  readonly schedules?: ScheduleResult;
  readonly late?: LateResult;
  readonly rates?: readonly RateResult[];
  readonly lone?: LatencyResult;
  readonly idle?: IdleResult;
  readonly growth?: GrowthResult;
  /** By process: after the start before any request, and at the end. */
  readonly memoryAtRestMib: Readonly<Record<string, Memory>>;
  readonly memoryMib: Readonly<Record<string, Memory>>;
}

type Row = readonly [what: string, value: string, target: string];

/** Results with targets, then CPU by process, then memory. */
export function reportText(report: Report): string {
  const { machine } = report;
  const head =
    `Node ${machine.node} · ${machine.cpu} · ${machine.cores} cores · ${machine.store} · ` +
    `yardstick ${machine.yardstickUs.toFixed(0)} µs (${YARDSTICK_US} where the targets were set)`;
  return [
    head,
    table([['', 'figure', "today's target"], ...rowsOf(report)]),
    ...(report.growth === undefined ? [] : [table(growthRows(report.growth))]),
    table(cpuRows(report)),
    ...trouble(report).map((line) => `! ${line}`),
  ].join('\n\n');
}

function rowsOf(report: Report): Row[] {
  const { machine, start, accept, whole, oneAccount, bulk, schedules, late, rates = [], lone, idle } = report;
  const rows: Row[] = [['yardstick', `${machine.yardstickUs.toFixed(0)} µs`, '']];
  if (start) {
    rows.push([`first ${FIRST_SECONDS} s at ${FIRST_RATE}/s: answer`, ms(start.answerMs), 'p99 ≤ 150']);
    rows.push(['  answer → submit_sm', ms(start.acceptedToSubmitMs), '']);
  }
  if (accept) {
    rows.push(['accepted alone', perSecond(accept.acceptedPerSecond), '≥ 2,000/s']);
    rows.push(['  answer p50 / p99', ms(accept.answerMs), '']);
    rows.push(['  document writes per message', writes(accept), ''], ...cpuRowsOf(accept.cpuMsPer1000));
  }
  if (whole) rows.push(...loopRows('whole path', whole, '≥ 1,300/s', SINGLES_WRITES));
  if (oneAccount) rows.push(...loopRows('whole path, one account', oneAccount, '', SINGLES_WRITES));
  if (bulk) rows.push(...loopRows('bulk, accepted → last webhook', bulk, '≥ 1,500/s', BULK_WRITES));
  if (schedules) {
    const { schedules: count, releasedMs, bookedPerSecond } = schedules;
    rows.push([
      `${count.toLocaleString('en')} due in one second: queued after`,
      `${(releasedMs / 1_000).toFixed(1)} s`,
      '≤ 5 s',
    ]);
    rows.push(['  booked', perSecond(bookedPerSecond), '']);
  }
  if (late) {
    rows.push(...loopRows(`whole path, receipts after ${LATE_MS} ms`, late.singles, '', ''));
    rows.push(...loopRows(`bulk, receipts after ${LATE_MS} ms`, late.bulk, '', ''));
  }
  for (const rate of rates) rows.push(...rateRows(rate));
  if (lone) rows.push(...latencyRows('lone message', lone, 'p99 ≤ 150'));
  if (idle) rows.push(['idle CPU, % of a core', idle.percent.toFixed(1), '≤ 5']);
  const { memoryAtRestMib: atRest, memoryMib: atEnd } = report;
  rows.push(['memory at rest, MiB: RSS, what is shared counted once', memorySums(atRest, 'now', 'part'), '≤ 600']);
  rows.push(['  at the end, and the highest RSS', memorySums(atEnd, 'now', 'part', 'peak'), '']);
  return rows;
}

const SINGLES_WRITES = '≤ 3';
const BULK_WRITES = '≤ 2.2';

function loopRows(name: string, loop: LoopResult, target: string, writesTarget: string): Row[] {
  return [
    [name, perSecond(loop.wholePerSecond ?? Number.NaN), target],
    ['  accepted meanwhile', perSecond(loop.acceptedPerSecond), ''],
    ['  answer p50 / p99', ms(loop.answerMs), ''],
    ['  document writes per message', writes(loop), writesTarget],
    ...cpuRowsOf(loop.cpuMsPer1000),
  ];
}

function rateRows(rate: RateResult): Row[] {
  return [
    ...latencyRows(`at ${rate.perSecond}/s`, rate, '≤ 15 / ≤ 60'),
    ...cpuRowsOf(rate.cpuMsPer1000),
    [
      '  store commands and wake-ups per message',
      `${rate.commandsPerMessage?.toFixed(2) ?? ''} / ${rate.wakeUpsPerMessage.toFixed(2)}`,
      '',
    ],
  ];
}

function cpuRowsOf(cpu: ByProcess): Row[] {
  return [
    ['  CPU ms per 1,000, the product', own(cpu).toFixed(0), ''],
    ['  the same, divided by that of load and simulator', norm(cpu).toFixed(2), ''],
  ];
}

function writes({ documentWritesPerMessage }: LoopResult): string {
  return documentWritesPerMessage?.toFixed(2) ?? '';
}

/** Sums over the product's processes. */
function memorySums(memory: Report['memoryMib'], ...which: readonly (keyof Memory)[]): string {
  const sums = which.map((each) =>
    own(Object.fromEntries(Object.entries(memory).map(([name, one]) => [name, one[each]]))).toFixed(0),
  );
  return sums.join(' / ');
}

function latencyRows(name: string, figures: LatencyResult, target: string): Row[] {
  return [
    [`${name}: request → submit_sm p50 / p99`, ms(figures.submitMs), target],
    ['  answer → submit_sm', ms(figures.acceptedToSubmitMs), ''],
    ['  request → answer', ms(figures.answerMs), ''],
    ['  request → webhook (receipt delay included)', ms(figures.webhookMs), ''],
  ];
}

/** One row per process: CPU per 1,000 messages in each loop, idle, memory. */
function cpuRows({ accept, whole, oneAccount, bulk, late, rates = [], idle, memoryMib }: Report): string[][] {
  const loops: [string, Pick<LoopResult, 'cpuMsPer1000'>][] = [];
  if (accept) loops.push(['accept', accept]);
  if (whole) loops.push(['whole', whole]);
  if (oneAccount) loops.push(['one acc.', oneAccount]);
  if (bulk) loops.push(['bulk', bulk]);
  if (late) loops.push(['late', late.singles], ['late bulk', late.bulk]);
  for (const rate of rates) loops.push([`${rate.perSecond}/s`, rate]);
  const head = ['CPU ms per 1,000', ...loops.map(([name]) => name), 'idle %', 'RSS MiB', 'peak', 'own'];
  const rows = Object.entries(memoryMib).map(([name, memory]) => [
    name,
    ...loops.map(([, loop]) => (loop.cpuMsPer1000[name] ?? 0).toFixed(0)),
    idle?.byProcess[name]?.toFixed(1) ?? '',
    memory.now.toFixed(0),
    memory.peak.toFixed(0),
    memory.own.toFixed(0),
  ]);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const total = [
    'all',
    ...loops.map(([, loop]) => sum(Object.values(loop.cpuMsPer1000)).toFixed(0)),
    idle?.percent.toFixed(1) ?? '',
    sum(Object.values(memoryMib).map(({ now }) => now)).toFixed(0),
    sum(Object.values(memoryMib).map(({ peak }) => peak)).toFixed(0),
    sum(Object.values(memoryMib).map(({ own }) => own)).toFixed(0),
  ];
  return [head, ...rows, total];
}

/** Printed at the end, where it is seen: refusals or repeats make the results doubtful. */
function trouble({ accept, whole, oneAccount, bulk, late }: Report): string[] {
  return [accept, whole, oneAccount, bulk, late?.singles, late?.bulk].flatMap((loop) => {
    if (loop === undefined) return [];
    const refused = Object.entries(loop.refused).map(([status, times]) => `${times} sends were answered ${status}`);
    return loop.repeatedWebhooks === 0 ? refused : [...refused, `${loop.repeatedWebhooks} webhooks came again`];
  });
}

function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en')}/s`;
}

function ms({ p50, p99 }: Times): string {
  return `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
}

/** The first column is aligned left, the others right. */
export function table(rows: readonly (readonly string[])[]): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
    )
    .map((line) => line.trimEnd())
    .join('\n');
}
