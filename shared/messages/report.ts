import type { Db } from 'mongodb';
import { defined } from '../platform/runtime/defined.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import { nextTurn, turnOver } from '../platform/runtime/turns.ts';
import {
  ALL,
  type Amounts,
  countedFrom,
  HOUR_MS,
  increase,
  noTraffic,
  readTraffic,
  type ShownState,
  type TrafficKind,
  type TrafficRow,
  type TrafficSums,
} from './statistics.ts';

export type Dimension = 'day' | Exclude<keyof TrafficKind, 'half' | 'other'>;

export interface Asked {
  readonly account?: AccountId;
  readonly zone: string;
  /** Both days are included. */
  readonly from: Day;
  readonly to: Day;
  readonly groupBy: readonly Dimension[];
  readonly filter: Readonly<Partial<Record<Exclude<Dimension, 'day'>, string>>>;
}

export interface Row extends TrafficSums {
  /** Without values that are unknown, or no property of the channel. */
  readonly values: Readonly<Partial<Record<Dimension, string>>>;
  /** True for messages that were too different to be counted apart. */
  readonly other: boolean;
}

export interface Report {
  /** By their values in the order of `groupBy`; the newest day first. */
  readonly rows: readonly Row[];
  readonly total: Row;
  /** Messages that may fit the filter or not, because they were counted together with others. */
  readonly unsorted: number;
}

/** Further ones are added up in rows that say `other`. */
const ROWS_MAX = 10_000;

export async function readReport(db: Db, asked: Asked): Promise<Report> {
  const { account, zone, from, to, groupBy, filter } = asked;
  const dayOf = daysOf(zone);
  const [begin, end] = [beginOf(from, dayOf), beginOf(dayAfter(to), dayOf)];
  const rows = new Map<string, Row>();
  const total: Row = { ...noTraffic(), values: {}, other: false };
  const wanted = Object.entries(filter) as [keyof TrafficKind, string][]; // its keys
  let unsorted = 0;
  for await (const hour of readTraffic(db, account ?? ALL, begin, new Date(end.getTime() + HOUR_MS - 1))) {
    if (turnOver()) await nextTurn();
    const beganMs = countedFrom(hour).getTime();
    for (const traffic of hour.traffic) {
      const atMs = beganMs + (traffic.half * HOUR_MS) / 2;
      if (atMs < begin.getTime() || atMs >= end.getTime()) continue;
      const unfit = wanted.filter(([name, value]) => traffic[name] !== value);
      if (unfit.length > 0) {
        if (traffic.other && unfit.every(([name]) => name !== 'channel')) unsorted += messagesOf(traffic);
        continue;
      }
      const values = Object.fromEntries(
        groupBy.map((name) => [
          name,
          name === 'day' ? dayOf(atMs) : name === 'account' ? (account ?? traffic.account) : traffic[name],
        ]),
      );
      add(total, traffic);
      add(rowOf(rows, groupBy, values, traffic.other === true), traffic);
    }
  }
  return { rows: [...rows.values()].sort(byValues(groupBy)), total, unsorted };
}

function rowOf(
  rows: Map<string, Row>,
  groupBy: readonly Dimension[],
  values: Readonly<Partial<Record<Dimension, string | undefined>>>,
  isOther: boolean,
): Row {
  const other = isOther && groupBy.some((name) => name !== 'day' && name !== 'channel');
  const key = placeOf({ values: defined(values), other }, groupBy);
  const known = rows.get(key);
  if (known !== undefined) return known;
  if (rows.size >= ROWS_MAX && !other) return rowOf(rows, groupBy, { day: values.day, channel: values.channel }, true);
  const row: Row = { ...noTraffic(), values: defined(values), other };
  rows.set(key, row);
  return row;
}

/** Unique within the report. */
export function placeOf({ values, other }: Pick<Row, 'values' | 'other'>, groupBy: readonly Dimension[]): string {
  return [...groupBy.map((name) => values[name] ?? ''), other ? '1' : ''].join('\t');
}

function byValues(groupBy: readonly Dimension[]): (a: Row, b: Row) => number {
  return (a, b) => {
    for (const name of groupBy) {
      const [one = '', another = ''] = [a.values[name], b.values[name]];
      if (one !== another) return one < another === (name === 'day') ? 1 : -1;
    }
    return Number(a.other) - Number(b.other);
  };
}

function add(row: Row, traffic: TrafficRow): void {
  row.messages += messagesOf(traffic);
  row.segments += traffic.segments;
  row.credits += traffic.credits;
  row.refunded += traffic.refunded;
  row.unpriced += traffic.unpriced ?? 0;
  for (const [state, count] of Object.entries(traffic.states)) increase(row.states, state as ShownState, count); // its keys
  for (const { code, messages } of traffic.errors ?? []) increase(row.errors, code, messages);
  addAmounts(row.sales, traffic.sales);
  addAmounts(row.costs, traffic.costs);
}

function addAmounts(sums: Map<string, number>, amounts: Amounts = {}): void {
  for (const [currency, millionths] of Object.entries(amounts)) increase(sums, currency, millionths);
}

function messagesOf({ states }: TrafficRow): number {
  return Object.values(states).reduce((sum, count) => sum + count, 0);
}

/** Days of a time zone. Traffic is counted by half hours, each of which belongs to the day in which it begins. */

const HALF_MS = 30 * 60_000;
/** No zone is farther from UTC. */
const FARTHEST_MS = 15 * 60 * 60_000;

/** `2026-11-21` */
export type Day = string;

/** Remembers the days of half hours, because formatting takes some microseconds. */
export function daysOf(zone: string): (atMs: number) => Day {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const known = new Map<number, Day>();
  return (atMs) => {
    const half = Math.floor(atMs / HALF_MS);
    const day = known.get(half) ?? format.format(half * HALF_MS);
    known.set(half, day);
    return day;
  };
}

/** The begin of a day: its first half hour. */
export function beginOf(day: Day, dayOf: (atMs: number) => Day): Date {
  const midnight = Date.parse(`${day}T00:00:00Z`);
  for (let atMs = midnight - FARTHEST_MS; atMs <= midnight + FARTHEST_MS; atMs += HALF_MS) {
    if (dayOf(atMs) >= day) return new Date(atMs);
  }
  throw new Error(`the day ${day} does not begin`);
}

export function dayAfter(day: Day, days = 1): Day {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * 2 * HALF_MS).toISOString().slice(0, 10);
}
