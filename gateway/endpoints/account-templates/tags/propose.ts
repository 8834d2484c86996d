import { MESSENGERS, readCta } from '../../../../shared/carriers/cta.ts';
import { inSlices } from '../../../../shared/platform/runtime/turns.ts';
import { type Pattern, parseContent } from '../../../../shared/templates/sms/pattern.ts';
import { DEFAULT_SLOT_LIMITS, SLOT_WORDS, type SlotType } from '../../../../shared/templates/sms/slot.ts';
import { isOfType } from '../../../../shared/templates/sms/slot-value.ts';
import { foldLineBreaks, type TemplateDocument } from '../../../../shared/templates/sms/template.ts';
import type { WithText } from '../../messages/texts.ts';
import { findCtas } from '../../sms/ctas/find-ctas.ts';
import { captureSlots } from '../../sms/matching/reach.ts';

/** Which tag each `{#var#}` of a template should have, by the values that were sent in it. */

/** The narrowest first. */
export const TAGS = ['email', 'urlott', 'url', 'numeric', 'cbn', 'alphanumeric'] as const satisfies readonly SlotType[];
export type Tag = (typeof TAGS)[number];

interface TagOfValues {
  /** Undefined when no tag takes as many as are wanted. */
  readonly tag: Tag | undefined;
  /** How many of the values each tag takes. */
  readonly takes: Readonly<Record<Tag, number>>;
}

/**
 * The narrowest tag that takes at least `wanted` (0 to 1) of the values. `{#url#}` takes any words with a full stop between them, and
 * `{#cbn#}` any digits: so these two, and `{#urlott#}`, must also look like what they hold. Digits are a callback number when they are a
 * number to call that comes again and again: it is the sender's own. `home`: the country of numbers without a code.
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
  return value.length <= DEFAULT_SLOT_LIMITS[tag] && isOfType(tag, value);
}

/** A message that was sent. */
export interface SentText extends Pick<WithText, 'verification'> {
  readonly id: string;
  readonly text: string;
}

export interface SlotProposal extends TagOfValues {
  /** Counts all slots of the template from 0. */
  readonly index: number;
  /** Another slot touches it: the DLT platforms want text between slots, and nobody can say where its value ends. */
  readonly touches: boolean;
}

export interface Proposal {
  /** The content with the proposed tags; what has no proposal stays `{#var#}`. */
  readonly content: string;
  readonly slots: readonly SlotProposal[];
  /** Of how many messages the values are. */
  readonly messages: number;
  /** Those that the proposed content would not match, the newest first, with the slots (from 0) whose value the tag does not take. */
  readonly refused: readonly (SentText & { readonly slots: readonly number[] })[];
}

/** A template, as its account's texts are compared. */
export interface Examined extends Pick<TemplateDocument, 'content' | 'slots'> {
  readonly exactLineBreaks: boolean;
}

/** Undefined for content that no text matches. */
export function patternOf({ content, slots, exactLineBreaks }: Examined): Pattern | undefined {
  const parsed = parseContent(exactLineBreaks ? content : foldLineBreaks(content), DEFAULT_SLOT_LIMITS, slots);
  return parsed.kind === 'pattern' ? parsed.pattern : undefined;
}

/** Values that are looked at: of templates with many slots fewer messages are read, because each takes as much longer. */
const VALUES_MAX = 20_000;

/** `sent`: messages that left with the template, the newest first. */
export async function propose(
  template: Examined,
  sent: readonly SentText[],
  wanted: number,
  home: string,
): Promise<Proposal> {
  const pattern = patternOf(template);
  const compared = (text: string): string => (template.exactLineBreaks ? text : foldLineBreaks(text));
  const read: (SentText & { readonly values: readonly string[] })[] = [];
  const most = Math.ceil(VALUES_MAX / Math.max(pattern?.slots.length ?? 0, 1));
  await inSlices(sent.slice(0, most), (one) => {
    const values = pattern && captureSlots(pattern, compared(one.text));
    if (values !== undefined) read.push({ ...one, values });
  });
  const slots: SlotProposal[] = [];
  for (const { index, touches } of openSlots(pattern)) {
    const values = read.map((one) => one.values[index] ?? '');
    const { tag, takes } = await tagOfValues(values, wanted, home);
    slots.push({ index, touches, takes, tag: touches ? undefined : tag });
  }
  const content = taggedContent(template, slots);
  const tagged = patternOf({ ...template, content });
  const refused: Proposal['refused'][number][] = [];
  await inSlices(read, ({ values, ...one }) => {
    if (tagged !== undefined && captureSlots(tagged, compared(one.text)) !== undefined) return;
    const wrong = slots.filter(({ tag, index }) => tag !== undefined && !isTaken(tag, values[index] ?? ''));
    refused.push({ ...one, slots: wrong.map(({ index }) => index) });
  });
  return { content, slots, messages: read.length, refused };
}

/** The slots that take any text. */
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

/** Slots whose type stood in a table beside the text have it in the text. */
function taggedContent({ content, slots: rules = [] }: Examined, slots: readonly SlotProposal[]): string {
  let index = -1;
  return content.replaceAll(SLOT, (token, word: string) => {
    if (SLOT_WORDS.has(word)) index++;
    if (word !== 'var') return token;
    return `{#${rules[index]?.type ?? slots.find((slot) => slot.index === index)?.tag ?? 'var'}#}`;
  });
}

/** The same for a content and for each that differs from it in nothing but the types of its slots. */
export function fixedText({ content, exactLineBreaks }: Pick<Examined, 'content' | 'exactLineBreaks'>): string {
  return (exactLineBreaks ? content : foldLineBreaks(content)).replaceAll(SLOT, '{#var#}');
}
