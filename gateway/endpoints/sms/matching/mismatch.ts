import { SLOT_MEANING } from '../../../../shared/templates/sms/slot.ts';
import { type Difference, differenceOf, differenceWork, excerpt } from './difference.ts';
import { matchTemplate } from './match.ts';
import { quoted } from './quoted.ts';
import { type IndexedTemplate, type TemplateIndex, WORD } from './template-index.ts';

/** The codes with which a carrier's DLT scrubbing refuses such texts (shared/carriers/scrub-rules.ts). */
const SCRUB_CODES = {
  template_not_found: '630',
  text_not_matched: '633',
  header_not_of_template: '634',
  variable_too_long: '635',
} as const;

/** Why a text fits no template of the sender, for the error `template_mismatch`. */
export interface Mismatch {
  readonly kind: 'no_template' | 'other_sender' | Difference['kind'];
  /** Of `shared/carriers/scrub-rules.ts`. */
  readonly scrubCode: string;
  /** For people. It quotes the text, so the sender of the text may see it, but it must not be logged. */
  readonly detail: string;
  /**
   * The nearest template. Absent when the sender has none. The other members are absent when finding the difference
   * would have taken too long.
   */
  readonly template?: Pick<IndexedTemplate, 'dltId' | 'name'>;
  /** Index of the code unit where the text begins to differ, or where the wrong value begins. */
  readonly at?: number;
  /** Excerpts of the template and of the text at that place. */
  readonly expected?: string;
  readonly found?: string;
  /** The slot that does not accept its value. */
  readonly slot?: {
    /** Counted from 1. */
    readonly number: number;
    readonly type: string;
    readonly length: number;
    readonly max: number;
  };
}

/** Templates that are compared in full, chosen by their words. Fewer if they and the text are very long. */
const COMPARED_MAX = 4;
/** Limit of the `differenceWork` of all comparisons: up to 5 ms, or 25 ms the first time. */
const COMPARED_WORK_MAX = 400_000;

/**
 * Explains why `matchTemplate(own, text)` found nothing. `account` has the templates of all senders of the account:
 * if one of them fits, the text was sent as the wrong sender. Takes some 1.5 ms against 5,000 templates;
 * `COMPARED_WORK_MAX` bounds it. `placeOf`: the place in the caller's own text of a place in `text`.
 */
export function explainMismatch(
  own: TemplateIndex,
  account: TemplateIndex,
  text: string,
  placeOf: (at: number) => number = (at) => at,
): Mismatch {
  const elsewhere = matchTemplate(account, text);
  if (elsewhere !== undefined) return otherSender(elsewhere);
  const alike = mostAlike(own, text);
  const [nearest] = alike;
  if (nearest === undefined) {
    const detail =
      'The sender has no approved template for this route. `GET /v2/account/templates` lists the templates of the account; `POST` asks for one.';
    return { kind: 'no_template', scrubCode: SCRUB_CODES.template_not_found, detail };
  }
  const compared = compareNearest(alike, text);
  // A template whose fixed text is complete in the text is nearer than one that only looks alike.
  const told = compared.find(({ difference }) => difference.kind !== 'text_differs') ?? compared[0];
  if (told === undefined) return differsSomewhere(nearest);
  const { template } = told;
  const difference = { ...told.difference, at: placeOf(told.difference.at) };
  return difference.kind === 'text_differs' ? textDiffers(template, difference) : slotDiffers(template, difference);
}

/** The templates with the largest part of their fixed words in the text, the most alike first. */
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

/** Compares the most alike templates first. Returns none when even the first one would take too long. */
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

function otherSender({ dltId, name, senders }: IndexedTemplate): Mismatch {
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
