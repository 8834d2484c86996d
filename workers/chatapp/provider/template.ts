import { objectOf } from '../../../shared/carriers/providers/graph-error.ts';
import {
  type ChatTemplateDocument,
  chatTemplateId,
  type TemplateOwner,
} from '../../../shared/templates/chat/chat-template.ts';
import { type Component, partsOf, readComponents, text, typeOf, WORD_MAX } from './template-components.ts';

/** Why an entry of the list is not a template that can be kept. */
export interface Unreadable {
  readonly problem: string;
  /** The template's name, shortened to a length that can be logged. Absent if the entry has no name. */
  readonly name?: string;
}

/** WhatsApp's own limit. */
const NAME_MAX = 512;
/** A code such as `en_US`. RFC 5646 §4.4.1 asks for room for 35 characters. */
const LANGUAGE_MAX = 35;
/** Far above WhatsApp's own limits: 1,024 characters for a body, 60 for a header or footer, 2,000 for a URL. */
const TEXT_MAX = 16_384;
/** Far above WhatsApp's own limits: five components, ten buttons. */
const PARTS_MAX = 64;
/** WhatsApp's own limit. */
const CARDS_MAX = 10;

/** Reads one entry of `GET /{business}/message_templates`. Pure. `TEXT_MAX` and `PARTS_MAX` bound its time. */
export function readTemplate(owner: TemplateOwner, value: unknown, syncedAt: Date): ChatTemplateDocument | Unreadable {
  const entry = objectOf(value);
  const { name, language, status, category } = entry ?? {};
  if (typeof name !== 'string' || typeof language !== 'string' || typeof status !== 'string') {
    return { problem: 'it has no name, language or status' };
  }
  const components = partsOf(entry?.components);
  const problem =
    tooLong({ name, language, status, category: text(category) }) ?? components.map(tooLarge).find(isText);
  if (problem !== undefined || components.length > PARTS_MAX) {
    return { problem: problem ?? 'it has too many components', name: name.slice(0, WORD_MAX) };
  }
  return {
    _id: chatTemplateId(owner, name, language),
    ...owner,
    name,
    language,
    status: status.toLowerCase(),
    category: text(category).toLowerCase(),
    ...(typeof entry?.id === 'string' && entry.id.length <= WORD_MAX ? { upstreamId: entry.id } : {}),
    ...reasonOf(entry?.rejected_reason),
    ...qualityOf(objectOf(entry?.quality_score)?.score),
    variables: Math.max(0, ...components.filter((one) => typeOf(one) === 'BODY').map((one) => variablesOf(one.text))),
    ...readComponents(components, text(category).toUpperCase() === 'AUTHENTICATION'),
    syncedAt,
  };
}

/** `NONE` when it is not rejected. */
function reasonOf(value: unknown): { readonly reason?: string } {
  return typeof value === 'string' && value !== '' && value !== 'NONE' ? { reason: value.slice(0, WORD_MAX) } : {};
}

function qualityOf(value: unknown): { readonly quality?: string } {
  return typeof value === 'string' && value !== '' ? { quality: value.slice(0, WORD_MAX).toLowerCase() } : {};
}

interface Words {
  readonly name: string;
  readonly language: string;
  readonly status: string;
  readonly category: string;
}

function tooLong({ name, language, status, category }: Words): string | undefined {
  if (name.length > NAME_MAX) return 'its name is too long';
  if (language.length > LANGUAGE_MAX) return 'its language is too long';
  return status.length > WORD_MAX || category.length > WORD_MAX ? 'its status or category is too long' : undefined;
}

/** Checks the size of those parts of a component that are read. The rest is ignored. */
function tooLarge(component: Component): string | undefined {
  const cards = partsOf(component.cards);
  if (cards.length > CARDS_MAX) return 'it has too many cards';
  const inCards = cards.map((card) => partsOf(card.components));
  if (inCards.some((parts) => parts.length > PARTS_MAX || parts.some((part) => Array.isArray(part.cards)))) {
    return 'a card of it has too many components';
  }
  const buttons = partsOf(component.buttons);
  if (buttons.length > PARTS_MAX) return 'it has too many buttons';
  const offer = objectOf(component.limited_time_offer) ?? {};
  const texts = [component, offer, ...buttons].flatMap((part) => [text(part.text), text(part.url)]);
  if (texts.some(({ length }) => length > TEXT_MAX)) return 'a text of it is too long';
  return inCards.flat().map(tooLarge).find(isText);
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}

/**
 * The highest number among `{{1}}`, `{{2}}`, …. Values are given in order, so a number that the text skips needs a
 * value too.
 */
function variablesOf(value: unknown): number {
  let highest = 0;
  for (const [, digits] of text(value).matchAll(/\{\{\s*(\d{1,3})\s*\}\}/g))
    highest = Math.max(highest, Number(digits));
  return highest;
}
