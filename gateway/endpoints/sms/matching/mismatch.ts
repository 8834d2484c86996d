import { UNSEEN } from '../../../../shared/messages/sms-plan.ts';
import type { Pattern, PatternPart } from '../../../../shared/templates/sms/pattern.ts';
import { isOfType, SLOT_MEANING, SLOT_VALUES, type Slot } from '../../../../shared/templates/sms/slot.ts';
import {
  captureSlots,
  forwardReach,
  type IndexedTemplate,
  type Positions,
  slotEnds,
  type TemplateIndex,
  WORD,
} from './match.ts';

/** The codes with which DLT scrubbing refuses such texts (shared/carriers/scrub-rules.ts). */
const SCRUB_CODES = {
  template_not_found: '630',
  text_not_matched: '633',
  header_not_of_template: '634',
  variable_too_long: '635',
} as const;

/** For the error `template_mismatch`. */
export interface Mismatch {
  readonly kind: 'no_template' | 'other_sender' | Difference['kind'];
  readonly scrubCode: string;
  /** For people. It quotes the text: its sender may see it, logs must not. */
  readonly detail: string;
  /** The nearest template, if any. Members below are absent if finding the difference would take too long. */
  readonly template?: Pick<IndexedTemplate, 'dltId' | 'name'>;
  /** Code unit where the text begins to differ, or where the wrong value begins. */
  readonly at?: number;
  readonly expected?: string;
  readonly found?: string;
  readonly slot?: {
    readonly number: number;
    readonly type: string;
    readonly length: number;
    readonly max: number;
  };
}

/** Templates compared in full, chosen by their words. Fewer if they and the text are very long. */
const COMPARED_MAX = 4;
/** Limit of the `differenceWork` of all comparisons: up to 5 ms, or 25 ms the first time. */
const COMPARED_WORK_MAX = 400_000;

/**
 * Why `matchTemplate(own, text)` found nothing, and no other sender's template fits. Some 1.5 ms against 5,000
 * templates, bounded by `COMPARED_WORK_MAX`. `placeOf` maps places of `text` to the caller's text.
 */
export function explainMismatch(
  own: TemplateIndex,
  text: string,
  placeOf: (at: number) => number = (at) => at,
): Mismatch {
  const alike = mostAlike(own, text);
  const [nearest] = alike;
  if (nearest === undefined) {
    const detail =
      'The sender has no approved template for this route. `GET /v2/account/templates` lists the templates of the account; `POST` asks for one.';
    return { kind: 'no_template', scrubCode: SCRUB_CODES.template_not_found, detail };
  }
  const compared = compareNearest(alike, text);
  // A template whose whole fixed text occurs is nearer than one that only looks alike.
  const told = compared.find(({ difference }) => difference.kind !== 'text_differs') ?? compared[0];
  if (told === undefined) return differsSomewhere(nearest);
  const { template } = told;
  const difference = { ...told.difference, at: placeOf(told.difference.at) };
  return difference.kind === 'text_differs' ? textDiffers(template, difference) : slotDiffers(template, difference);
}

/** Templates with the largest part of their fixed words in the text, the most alike first. */
function mostAlike({ templates, words }: TemplateIndex, text: string): IndexedTemplate[] {
  const inText = new Set(text.match(WORD));
  const best: { readonly template: IndexedTemplate; readonly likeness: number }[] = [];
  for (const [i, template] of templates.entries()) {
    const own = words[i] ?? [];
    let common = 0;
    for (const word of own) if (inText.has(word)) common++;
    const likeness = common / Math.max(1, own.length);
    if (best.length === COMPARED_MAX && likeness <= (best.at(-1)?.likeness ?? 0)) continue;
    const place = best.findIndex((one) => likeness > one.likeness);
    best.splice(place === -1 ? best.length : place, 0, { template, likeness });
    if (best.length > COMPARED_MAX) best.pop();
  }
  return best.map(({ template }) => template);
}

interface Compared {
  readonly template: IndexedTemplate;
  readonly difference: Difference;
}

/** The most alike first. None when even the first would take too long. */
function compareNearest(alike: readonly IndexedTemplate[], text: string): Compared[] {
  const compared: Compared[] = [];
  let work = 0;
  for (const template of alike) {
    work += differenceWork(template.pattern, text);
    if (work > COMPARED_WORK_MAX) break;
    compared.push({ template, difference: differenceOf(template.pattern, text) });
  }
  return compared;
}

function differsSomewhere({ dltId, name }: IndexedTemplate): Mismatch {
  return {
    kind: 'text_differs',
    scrubCode: SCRUB_CODES.text_not_matched,
    detail: `The nearest template is ${dltId}. It has too many slots, and the text is too long, to say where they differ.`,
    template: { dltId, name },
  };
}

/** The text fits this template of the account, which belongs to other senders. */
export function otherSender({ dltId, name, senders }: IndexedTemplate): Mismatch {
  return {
    kind: 'other_sender',
    scrubCode: SCRUB_CODES.header_not_of_template,
    detail: `The text matches template ${dltId}, approved for ${senders.join(', ')}, but not for this sender and route together.`,
    template: { dltId, name },
  };
}

function textDiffers(
  template: IndexedTemplate,
  { at, expected, found }: Difference & { kind: 'text_differs' },
): Mismatch {
  const has = found === '' ? 'the text ends' : `the text has ${quoted(found)}`;
  const wants = expected === '' ? 'nothing more' : quoted(expected);
  return {
    kind: 'text_differs',
    scrubCode: SCRUB_CODES.text_not_matched,
    detail: `The nearest template is ${template.dltId}. At character ${at + 1} ${has} where the template has ${wants}.`,
    template: { dltId: template.dltId, name: template.name },
    at,
    expected,
    found,
  };
}

function slotDiffers(template: IndexedTemplate, difference: Exclude<Difference, { kind: 'text_differs' }>): Mismatch {
  const { kind, at, index, slot, value } = difference;
  const found = excerpt(value, 0);
  const number = index + 1;
  const where = `The nearest template is ${template.dltId}. Its slot ${number} ({#${slot.type}#}, at character ${at + 1})`;
  const tooLong = kind === 'slot_too_long';
  return {
    kind,
    scrubCode: tooLong ? SCRUB_CODES.variable_too_long : SCRUB_CODES.text_not_matched,
    detail: tooLong
      ? `${where} takes ${slot.max} characters, but got ${value.length}.`
      : `${where} takes ${SLOT_MEANING[slot.type]}, but got ${quoted(found)}.`,
    template: { dltId: template.dltId, name: template.name },
    at,
    expected: `{#${slot.type}#}`,
    found,
    slot: { number, type: slot.type, length: value.length, max: slot.max },
  };
}

/** Why a text is no instance of one template. Positions are code units of the text. */
type Difference =
  | SlotDifference
  | {
      readonly kind: 'text_differs';
      /** The first place where the text fits no reading of the template. */
      readonly at: number;
      /** What template (empty: it has ended) and text have there. */
      readonly expected: string;
      readonly found: string;
    };

interface SlotDifference {
  readonly kind: 'slot_too_long' | 'slot_wrong_type';
  readonly at: number;
  readonly index: number;
  readonly slot: Slot;
  readonly value: string;
}

/** A literal this long after a slot's maximum shows that the value is too long. */
const TELLING_LENGTH = 4;
/** By how much a URL, mail address or number may exceed its limit and still be read as one value. */
const SHAPE_OVER_MAX = 400;

/**
 * The simplest explanation: values too long, else of the wrong type, else the first place that differs. Meaningless for
 * a text that matches. Costs `differenceWork`.
 */
function differenceOf(pattern: Pattern, text: string): Difference {
  return (
    wrongSlot(pattern, text, (slot) => withoutLimit(slot, text)) ??
    wrongSlot(pattern, text, () => ({ type: 'var', min: 0, max: text.length })) ??
    firstDifference(pattern, text)
  );
}

/**
 * Upper bound of the cost of `differenceOf` in steps of some 20 ns: parts × code units. A shape (URL, mail address,
 * phone number) is read from each code unit to its end up to three times, and once beyond its limit.
 */
function differenceWork({ parts }: Pattern, text: string): number {
  const perCodeUnit = parts.reduce((sum, part) => sum + 1 + (isShape(part) ? shapeSteps(part.slot) : 0), 0);
  return perCodeUnit * (text.length + 1);
}
const SHAPE_STEPS_A_PART = 40;

function shapeSteps({ max }: Slot): number {
  return (3 * max + SHAPE_OVER_MAX) / SHAPE_STEPS_A_PART;
}

function isShape(part: PatternPart): part is PatternPart & { kind: 'slot' } {
  return part.kind === 'slot' && SLOT_VALUES[part.slot.type].kind === 'shape';
}

/** The first slot that does not take its value, if the text fits the template with freer slots. */
function wrongSlot(pattern: Pattern, text: string, freer: (slot: Slot) => Slot): SlotDifference | undefined {
  const parts = pattern.parts.map(
    (part): PatternPart => (part.kind === 'slot' ? { ...part, slot: freer(part.slot) } : part),
  );
  const values = captureSlots({ ...pattern, parts }, text);
  if (values === undefined) return undefined;
  let start = 0;
  for (const part of pattern.parts) {
    const value = part.kind === 'literal' ? part.text : (values[part.index] ?? '');
    const end = start + value.length;
    if (part.kind === 'slot') {
      const tooLong = value.length > part.slot.max;
      const kind = tooLong ? 'slot_too_long' : 'slot_wrong_type';
      if (tooLong || !isOfType(part.slot.type, value)) return slotDifference(kind, { ...part, start, end }, text);
    }
    start = end;
  }
  return undefined;
}

function firstDifference(pattern: Pattern, text: string): Difference {
  const before = forwardReach(pattern, text);
  // Part i is the first that the text cannot pass. If it passes all, the text continues after the template's end.
  const reachable = before.findLastIndex((positions) => positions.includes(1));
  const starts = before[reachable] ?? new Uint8Array(1);
  const part = pattern.parts[reachable];
  if (part?.kind === 'slot') {
    const start = starts.lastIndexOf(1);
    const end = Math.min(text.length, start + EXCERPT_MAX);
    return slotDifference('slot_wrong_type', { ...part, start, end }, text);
  }
  const literal = part?.text ?? '';
  const previous = pattern.parts[reachable - 1];
  if (previous?.kind === 'slot' && literal.length >= TELLING_LENGTH) {
    const start = before[reachable - 1]?.indexOf(1) ?? -1;
    const end = start === -1 ? -1 : text.indexOf(literal, start + previous.slot.max + 1);
    const isOneValue = end !== -1 && slotEnds(withoutLimit(previous.slot, text), text, start).includes(end);
    if (isOneValue) return slotDifference('slot_too_long', { ...previous, start, end }, text);
  }
  const { start, length } = bestPlace(literal, text, starts);
  const differs = start + length;
  const at = characterStart(text, differs);
  const expected = excerpt(literal, Math.max(0, length - (differs - at)));
  return { kind: 'text_differs', at, expected, found: excerpt(text, at) };
}

/** Where the literal fits best. A slot may end at any of `starts`, so code units that agree later count too. */
function bestPlace(literal: string, text: string, starts: Positions): { start: number; length: number } {
  let best = { start: starts.lastIndexOf(1), length: 0 };
  let bestScore = 0;
  for (const [start, isIn] of starts.entries()) {
    if (!isIn) continue;
    const looked = Math.min(literal.length, text.length - start, LOOKED_AT);
    let length = 0;
    let score = 0;
    for (let i = 0; i < looked; i++) {
      if (text.charCodeAt(start + i) !== literal.charCodeAt(i)) continue;
      score += length === i ? 2 : 1;
      if (length === i) length++;
    }
    if (score > bestScore) {
      best = { start, length };
      bestScore = score;
    }
  }
  const { start } = best;
  let { length } = best;
  while (length < literal.length && start + length < text.length && text[start + length] === literal[length]) length++;
  return { start, length };
}
/** The most code units of a literal that are compared at each place. */
const LOOKED_AT = 48;

function withoutLimit(slot: Slot, text: string): Slot {
  const isShape = SLOT_VALUES[slot.type].kind === 'shape';
  return { ...slot, max: isShape ? slot.max + SHAPE_OVER_MAX : text.length };
}

function slotDifference(
  kind: SlotDifference['kind'],
  { index, slot, start, end }: { index: number; slot: Slot; start: number; end: number },
  text: string,
): SlotDifference {
  const at = characterStart(text, start);
  const isInside = characterStart(text, end) < end;
  return { kind, at, index, slot, value: text.slice(at, isInside ? end + 1 : end) };
}

/** `at`, or one less inside a surrogate pair: emoji often differ only in their second half. */
function characterStart(text: string, at: number): number {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}

const EXCERPT_MAX = 20;

function excerpt(text: string, from: number): string {
  return text.slice(from, characterStart(text, from + EXCERPT_MAX));
}

/** As JSON, with invisible characters as numbers: a no-break space is `\u00a0`. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(UNSEEN, (character) =>
    character
      .split('')
      .map((codeUnit) => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
