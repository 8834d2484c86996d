import type { Db } from 'mongodb';
import { MESSENGERS, readCta } from '../../../shared/carriers/cta.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { hourCollection, hourName } from '../../../shared/messages/statistics.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, lowestId } from '../../../shared/platform/runtime/ids.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import type { Pattern } from '../../../shared/templates/sms/pattern.ts';
import { isOfType, SLOT_LIMITS, SLOT_WORDS, type SlotType } from '../../../shared/templates/sms/slot.ts';
import {
  type ComparedBy,
  comparedPattern,
  comparedText,
  type TemplateDocument,
} from '../../../shared/templates/sms/template.ts';
import type { WithText } from '../messages/texts.ts';
import { findCtas } from '../sms/ctas/check.ts';
import { captureSlots } from '../sms/matching/match.ts';

/** Proposes a tag for each `{#var#}` of a template, from the values that were sent. */

/** The narrowest first. */
export const TAGS = ['email', 'urlott', 'url', 'numeric', 'cbn', 'alphanumeric'] as const satisfies readonly SlotType[];
export type Tag = (typeof TAGS)[number];

interface TagOfValues {
  /** Undefined when no tag takes as many values as wanted. */
  readonly tag: Tag | undefined;
  readonly takes: Readonly<Record<Tag, number>>;
}

/**
 * The narrowest tag that takes at least `wanted` (0 to 1) of the values. `{#url#}` takes any words joined by a full
 * stop and `{#cbn#}` any digits, so the values of these two and of `{#urlott#}` must also look right: a callback number
 * is one that can be called and is repeated (the sender's own). `home`: the country of numbers without a code.
 */
async function tagOfValues(values: readonly string[], wanted: number, home: string): Promise<TagOfValues> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const distinct: { readonly count: number; readonly is: Nature; readonly tags: readonly Tag[] }[] = [];
  await inSlices([...counts], ([value, count]) => {
    distinct.push({ count, is: natureOf(value, home), tags: TAGS.filter((tag) => isTaken(tag, value)) });
  });
  const numbers = distinct.filter(({ is }) => is === 'number');
  const isOwnNumber =
    numbers.length <= OWN_NUMBERS_MAX &&
    sumOf(numbers) >= numbers.length * OWN_NUMBER_TIMES &&
    sumOf(numbers) >= MOST * values.length;
  const takes = {} as Record<Tag, number>;
  let tag: Tag | undefined;
  for (const one of TAGS) {
    const taken = distinct.filter(({ tags }) => tags.includes(one));
    takes[one] = sumOf(taken);
    const nature = NATURES[one];
    const looksIt = nature === undefined || sumOf(taken.filter(({ is }) => nature.includes(is))) >= MOST * takes[one];
    if (one === 'numeric' && isOwnNumber) continue;
    if (takes[one] > 0 && takes[one] >= wanted * values.length && looksIt) tag ??= one;
  }
  return { tag, takes };
}
const MOST = 0.9;
const OWN_NUMBERS_MAX = 10;
const OWN_NUMBER_TIMES = 5;

type Nature = 'app' | 'link' | 'number' | 'other';
const NATURES: Readonly<Partial<Record<Tag, readonly Nature[]>>> = {
  ...{ urlott: ['app'], url: ['app', 'link'], cbn: ['number'] },
};

function natureOf(value: string, home: string): Nature {
  const [found] = findCtas(value, home);
  if (found === undefined || !value.startsWith(found.written)) return 'other';
  if (found.kind === 'number') return found.written === value ? 'number' : 'other';
  const host = found.covering[0]?.split('/', 1)[0] ?? '';
  return MESSENGERS.has(host) || readCta(value, home).kind === 'app' ? 'app' : 'link';
}

function sumOf(counted: readonly { readonly count: number }[]): number {
  return counted.reduce((sum, { count }) => sum + count, 0);
}

function isTaken(tag: Tag, value: string): boolean {
  return value.length <= SLOT_LIMITS[tag] && isOfType(tag, value);
}

interface SentText extends Pick<WithText, 'verification'> {
  readonly id: string;
  readonly text: string;
}

interface SlotProposal extends TagOfValues {
  /** Counts all slots of the template from 0. */
  readonly index: number;
  /** Next to another slot: DLT platforms require text between slots, and nobody can tell where the value ends. */
  readonly touches: boolean;
}

export interface Proposal {
  /** The content with the proposed tags; slots without a proposal stay `{#var#}`. */
  readonly content: string;
  readonly slots: readonly SlotProposal[];
  readonly messages: number;
  /** Messages that the proposed content would not match, newest first, with the slots (from 0) that differ. */
  readonly refused: readonly (SentText & { readonly slots: readonly number[] })[];
}

type Examined = Pick<TemplateDocument, 'content' | 'slots'>;

/** The most values that are examined: of templates with many slots fewer messages are read. */
const VALUES_MAX = 20_000;

/** `sent`: messages of the template, newest first. */
export async function propose(
  template: Examined,
  by: ComparedBy,
  sent: readonly SentText[],
  wanted: number,
  home: string,
): Promise<Proposal> {
  const pattern = comparedPattern(template, by);
  const read: (SentText & { readonly values: readonly string[] })[] = [];
  const most = Math.ceil(VALUES_MAX / Math.max(pattern?.slots.length ?? 0, 1));
  await inSlices(sent.slice(0, most), (one) => {
    const values = pattern && captureSlots(pattern, comparedText(one.text, by));
    if (values !== undefined) read.push({ ...one, values });
  });
  const slots: SlotProposal[] = [];
  for (const { index, touches } of openSlots(pattern)) {
    const values = read.map((one) => one.values[index] ?? '');
    const { tag, takes } = await tagOfValues(values, wanted, home);
    slots.push({ index, touches, takes, tag: touches ? undefined : tag });
  }
  const content = taggedContent(template, slots);
  const tagged = comparedPattern({ ...template, content }, by);
  const refused: Proposal['refused'][number][] = [];
  await inSlices(read, ({ values, ...one }) => {
    if (tagged !== undefined && captureSlots(tagged, comparedText(one.text, by)) !== undefined) return;
    const wrong = slots.filter(({ tag, index }) => tag !== undefined && !isTaken(tag, values[index] ?? ''));
    refused.push({ ...one, slots: wrong.map(({ index }) => index) });
  });
  return { content, slots, messages: read.length, refused };
}

export function openSlots(
  pattern: Pattern | undefined,
): readonly { readonly index: number; readonly touches: boolean }[] {
  const parts = pattern?.parts ?? [];
  return parts.flatMap((part, i) =>
    part.kind === 'slot' && part.slot.type === 'var'
      ? [{ index: part.index, touches: parts[i - 1]?.kind === 'slot' || parts[i + 1]?.kind === 'slot' }]
      : [],
  );
}

const SLOT = /\{#([A-Za-z0-9_]{1,20})#\}/g;

/** Slot types that are stored beside the content are written into it. */
function taggedContent({ content, slots: rules = [] }: Examined, slots: readonly SlotProposal[]): string {
  let index = -1;
  return content.replaceAll(SLOT, (token, word: string) => {
    if (SLOT_WORDS.has(word)) index++;
    if (word !== 'var') return token;
    return `{#${rules[index]?.type ?? slots.find((slot) => slot.index === index)?.tag ?? 'var'}#}`;
  });
}

/** The same for contents that differ only in the types of their slots. */
export function fixedText(content: string, by: ComparedBy): string {
  return comparedText(content, by).replaceAll(SLOT, '{#var#}');
}

/**
 * Messages of templates are found without an index, which would cost a write per message: in the account's newest
 * messages, then in those of the hours in which the hourly counts have the template.
 */

const PAGE = 1_000;
/** Messages that are read: in all, of the newest, and of one hour. */
const LOOKED_MAX = 20_000;
const NEWEST_MAX = 5_000;
const HOUR_MAX = 3_000;
/** Hours parsed at once: some 20 KB each for the busiest account. 16 MB at once held the event loop for 0.2 s. */
const HOURS_AT_ONCE = 20;
const HOUR_MS = 3_600_000;

interface Sample {
  /** By DLT id, newest first. */
  readonly texts: ReadonlyMap<string, readonly SentText[]>;
  /** By DLT id: messages in the hourly counts, which lag by some minutes. */
  readonly counted: ReadonlyMap<string, number>;
  readonly looked: number;
}

/** Messages since `from`, at most `enough` of each template. */
export async function sampleTexts(
  db: Db,
  account: AccountId,
  dltIds: readonly string[],
  from: Date,
  enough: number,
): Promise<Sample> {
  const texts = new Map<string, SentText[]>(dltIds.map((dltId) => [dltId, []]));
  const counted = new Map<string, number>();
  const lacks = (dltId: string): boolean => (texts.get(dltId)?.length ?? enough) < enough;
  const first = lowestId('msg', from);
  let looked = 0;

  /** Reads messages below `before`, newest first. Returns the lowest id read; undefined when there are no more. */
  async function look(lowest: string, before: string | undefined, most: number, wanted: readonly string[]) {
    let below = before;
    for (const end = Math.min(LOOKED_MAX, looked + most); looked < end && wanted.some(lacks); ) {
      const range = { $gte: lowest, ...(below !== undefined && { $lt: below }) } as { $gte: AnyMessage['_id'] };
      const page = await db
        .collection<AnyMessage>('messages')
        .find({ account, _id: range }, { projection: { template: 1, text: 1, verification: 1 } })
        .sort({ _id: -1 })
        .hint('account')
        .limit(Math.min(PAGE, end - looked))
        .toArray();
      looked += page.length;
      for (const found of page) {
        // The text was deleted when its time was over.
        if (!('template' in found) || !('text' in found) || typeof found.template !== 'string' || !found.text) continue;
        const { _id: id, template, text, verification } = found;
        if (lacks(template)) texts.get(template)?.push({ id, text, ...defined({ verification }) });
      }
      below = page.at(-1)?._id ?? lowest;
      if (page.length < PAGE) break;
    }
    return below;
  }

  const below = (await look(first, undefined, NEWEST_MAX, dltIds)) ?? first;
  const hours = hourCollection(db)
    .find(
      { _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:9999-12-31T23` } },
      { batchSize: HOURS_AT_ONCE },
    )
    .project<{ _id: string; traffic: readonly { template?: string; states: Readonly<Record<string, number>> }[] }>({
      'traffic.template': 1,
      'traffic.states': 1,
    })
    .sort({ _id: -1 });
  for await (const { _id, traffic } of hours) {
    const inHour: string[] = [];
    for (const { template, states } of traffic) {
      if (template === undefined || !texts.has(template)) continue;
      inHour.push(template);
      const messages = Object.values(states).reduce((sum, count) => sum + count, 0);
      counted.set(template, (counted.get(template) ?? 0) + messages);
    }
    const begins = new Date(`${_id.slice(account.length + 1)}:00:00Z`);
    const lowest = [first, lowestId('msg', begins)].sort()[1] ?? first;
    const before = [below, lowestId('msg', new Date(begins.getTime() + HOUR_MS))].sort()[0];
    if (before !== undefined && before > lowest) await look(lowest, before, HOUR_MAX, inHour);
  }
  return { texts, counted, looked };
}
