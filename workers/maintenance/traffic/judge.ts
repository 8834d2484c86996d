import { HOUR_MS } from '../../../shared/messages/statistics.ts';
import type { Seen } from '../../../shared/messages/traffic/hold.ts';
import type { Counts, readPrefixHours } from '../statistics/prefix-hours.ts';

/** The weeks before. */
export interface Usual {
  /** Days with messages. */
  readonly days: number;
  readonly all: Counts;
  /** `peak`: the most messages in two clock hours that follow one another. */
  readonly prefixes: ReadonlyMap<string, Counts & { readonly peak: number }>;
}

/** Of an account that has sent on fewer days, nobody knows what is usual: nothing is held. */
const DAYS_MIN = 3;
/** Fewer messages than these are no attack that is worth a hold, and rates of few say nothing: nights are quiet. */
export const MESSAGES_MIN = 30;
const RIPE_MIN = 20;
/** It has risen when there are so many times as many as at the busiest time, or as is its part of all. */
const RISE = 3;
const PORTION_MIN = 0.05;
/** Fewer arrive when it is at most this part of what is usual, and of what arrives elsewhere in the same hours. */
const FALL = 0.5;

/** What is told of a prefix: of so many so many were good. `few`: fewer than these say nothing of what is usual. */
const DELIVERY = { of: 'ripe', good: 'delivered', few: 1 } as const;
const CONVERSION = { of: 'asked', good: 'approved', few: RIPE_MIN } as const;

/**
 * Which prefixes look like fraud: more goes there, and fewer messages arrive, or fewer codes are given back (verifications). Numbers that are called to be paid for ("SMS pumping", artificially inflated traffic) show the same
 * way: a range of numbers that the account hardly knew gets many messages within an hour or two, and few of them arrive, while the
 * others arrive as ever. Pure; docs/decisions/0046 says why these limits.
 *
 * `recent`: by prefix, the running clock hour and the one before.
 */
export function suspicious(recent: ReadonlyMap<string, Counts>, usual: Usual): ReadonlyMap<string, Seen> {
  const found = new Map<string, Seen>();
  if (usual.days < DAYS_MIN) return found;
  const all = sum([...recent.values()]);
  for (const [prefix, now] of recent) {
    if (now.messages < MESSAGES_MIN) continue;
    const before = usual.prefixes.get(prefix) ?? { ...sum([]), peak: 0 };
    const portion = now.messages / all.messages;
    const usualPortion = before.messages / usual.all.messages;
    const hasRisen =
      now.messages >= Math.max(RISE * before.peak, MESSAGES_MIN) ||
      (portion >= PORTION_MIN && portion >= RISE * usualPortion);
    if (!hasRisen) continue;
    const compared = { now, before, usual: usual.all, all };
    const conversion = comparison(CONVERSION, compared);
    const delivery = comparison(DELIVERY, compared);
    if (!conversion.hasFallen && !delivery.hasFallen) continue;
    found.set(prefix, {
      ...{ messages: now.messages, portion, delivered: delivery.rate },
      ...{ usualMessages: before.peak, usualPortion, usualDelivered: delivery.usual },
      ...(conversion.isKnown && { converted: conversion.rate, usualConverted: conversion.usual }),
    });
  }
  return found;
}

interface Compared {
  readonly now: Counts;
  readonly before: Counts;
  readonly usual: Counts;
  readonly all: Counts;
}

/** A rate of a prefix beside what is usual there, or in the account, and beside all others in the same hours. */
function comparison({ of, good, few }: typeof DELIVERY | typeof CONVERSION, { now, before, usual, all }: Compared) {
  const count = (counts: Counts, name: typeof of | typeof good) => counts[name] ?? 0;
  const rate = (counts: Counts) => (count(counts, of) === 0 ? 0 : count(counts, good) / count(counts, of));
  const known = count(before, of) >= RIPE_MIN ? before : usual;
  const others = count(all, of) - count(now, of);
  const isKnown = count(now, of) >= RIPE_MIN && (count(known, of) >= few || others >= RIPE_MIN);
  // When fewer arrive everywhere, a carrier is ill or a list is old.
  const elsewhere = others >= RIPE_MIN ? (count(all, good) - count(now, good)) / others : rate(known);
  const usually = count(known, of) >= few ? rate(known) : elsewhere;
  const hasFallen = isKnown && rate(now) <= FALL * usually && rate(now) <= FALL * elsewhere;
  return { rate: rate(now), usual: usually, isKnown, hasFallen };
}

function sum(parts: readonly Counts[]): Counts {
  const total = { messages: 0, ripe: 0, delivered: 0, asked: 0, approved: 0 };
  for (const { messages, ripe, delivered, asked = 0, approved = 0 } of parts) {
    total.messages += messages;
    total.ripe += ripe;
    total.delivered += delivered;
    total.asked += asked;
    total.approved += approved;
  }
  return total;
}

const DAY_MS = 24 * HOUR_MS;

type Hours = Awaited<ReturnType<typeof readPrefixHours>>;

export function byPrefix(hours: Hours): ReadonlyMap<string, Counts> {
  const found = new Map<string, Counts>();
  for (const { prefix, ...counts } of hours.flatMap(({ prefixes }) => prefixes)) {
    found.set(prefix, sum([counts, found.get(prefix) ?? sum([])]));
  }
  return found;
}

/** Pure. `hours`: oldest first. */
export function usualIn(hours: Hours): Usual {
  const total = byPrefix(hours);
  const peaks = new Map<string, number>();
  let before: { readonly atMs: number; readonly of: ReadonlyMap<string, number> } = { atMs: 0, of: new Map() };
  for (const { atMs, prefixes } of hours) {
    const of = new Map(prefixes.map(({ prefix, messages }) => [prefix, messages]));
    for (const [prefix, messages] of of) {
      const both = messages + (before.atMs === atMs - HOUR_MS ? (before.of.get(prefix) ?? 0) : 0);
      peaks.set(prefix, Math.max(peaks.get(prefix) ?? 0, both));
    }
    before = { atMs, of };
  }
  return {
    days: new Set(hours.map(({ atMs }) => Math.floor(atMs / DAY_MS))).size,
    all: sum([...total.values()]),
    prefixes: new Map([...total].map(([prefix, counts]) => [prefix, { ...counts, peak: peaks.get(prefix) ?? 0 }])),
  };
}
