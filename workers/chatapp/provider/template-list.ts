import { setImmediate } from 'node:timers/promises';
import type { Exchange } from '../../../shared/carriers/http/client.ts';
import { objectOf } from '../../../shared/carriers/providers/graph-error.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { parseLargeJson, TooLargeError } from '../../../shared/platform/runtime/large-json.ts';
import {
  BUTTON_TYPES,
  type ChatTemplateDocument,
  chatTemplateId,
  isNumber,
  MEDIA_HEADERS,
  type TemplateButton,
  type TemplateComponents,
  type TemplateHeader,
  type TemplateOwner,
  variablesIn,
} from '../../../shared/templates/chat/chat-template.ts';
import { listTrouble } from './answer.ts';

export interface TemplateList {
  readonly templates: readonly ChatTemplateDocument[];
  readonly skipped: number;
  readonly firstSkipped: Unreadable | undefined;
}

export interface TemplatePagesOptions {
  readonly owner: TemplateOwner;
  readonly clock: Clock;
  ask(after: string | undefined): Promise<Exchange>;
}

/** The most entries of a list, templates or not. WhatsApp allows 6,000. */
const TEMPLATES_MAX = 10_000;
/** Enough for `TEMPLATES_MAX`, and some more: a list that never ends is not followed further. */
const PAGES_MAX = 250;
/** The limit for all pages together, which are in memory until all are read; 6,000 templates need some 12 MB. */
const BYTES_MAX = 64 * 1_048_576;
/** Entries that are read without giving way to the event loop. */
const AT_ONCE = 5;

/** All templates of a business account as the provider lists them, or in a text why there is no list. */
export async function readTemplates({ owner, clock, ask }: TemplatePagesOptions): Promise<TemplateList | string> {
  const templates = new Map<string, ChatTemplateDocument>();
  let entries = 0;
  let bytes = 0;
  let skipped = 0;
  let firstSkipped: Unreadable | undefined;
  let after: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const exchange = await ask(after);
    const page = await readPage(exchange);
    if (typeof page === 'string') return page;
    bytes += exchange.kind === 'answered' ? exchange.body.length : 0;
    if (bytes > BYTES_MAX) return `more than ${BYTES_MAX} bytes of templates`;
    entries += page.entries.length;
    if (entries > TEMPLATES_MAX) return `more than ${TEMPLATES_MAX} templates`;
    for (const [i, entry] of page.entries.entries()) {
      if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
      const read = readTemplate(owner, entry, clock.now());
      if ('problem' in read) {
        skipped += 1;
        firstSkipped ??= read;
      } else {
        // A later page may repeat an entry that moved. The later one counts.
        templates.set(read._id, read);
      }
    }
    if (page.after === undefined) return { templates: [...templates.values()], skipped, firstSkipped };
    after = page.after;
  }
  return `more than ${PAGES_MAX} pages`;
}

async function readPage(exchange: Exchange): Promise<TemplatePage | string> {
  if (exchange.kind !== 'answered' || exchange.status !== 200) return listTrouble(exchange);
  try {
    return readTemplatePage(objectOf(await parseLargeJson(exchange.body)));
  } catch (error) {
    // The parser's message is left out, because it can quote the text.
    return error instanceof TooLargeError ? `the answer cannot be read: ${error.message}` : 'the answer is no JSON';
  }
}

interface TemplatePage {
  readonly entries: readonly unknown[];
  readonly after: string | undefined;
}

/** Cursors have some hundred characters. They become part of a URL. */
const CURSOR_MAX = 2_048;

/** Reads one page of `GET /{business}/message_templates`, or says in a text why it is none. Pure. */
export function readTemplatePage(body: Readonly<Record<string, unknown>> | undefined): TemplatePage | string {
  if (!Array.isArray(body?.data)) return 'the answer is no list of templates';
  const paging = objectOf(body.paging);
  const after = objectOf(paging?.cursors)?.after;
  // The URL in `next` is not used: the token would be sent to wherever it points.
  const more = typeof paging?.next === 'string' && typeof after === 'string' && after !== '';
  if (more && after.length > CURSOR_MAX) return `the cursor has more than ${CURSOR_MAX} characters`;
  return { entries: body.data, after: more ? after : undefined };
}

export interface Unreadable {
  readonly problem: string;
  /** Cut to a length that can be logged. Absent if the entry has no name. */
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

/** The highest number among `{{1}}`, `{{2}}`, …: values are given in order, so a skipped number needs a value too. */
function variablesOf(value: unknown): number {
  let highest = 0;
  for (const [, digits] of text(value).matchAll(/\{\{\s*(\d{1,3})\s*\}\}/g))
    highest = Math.max(highest, Number(digits));
  return highest;
}

type Component = Readonly<Record<string, unknown>>;

/** For words from a fixed list: statuses, categories, types. */
const WORD_MAX = 64;

interface ReadComponents {
  readonly components: TemplateComponents;
  /** A part of the template that Harkara cannot send, in words. */
  readonly unsendable?: string;
}

/** WhatsApp lists buttons of "Authentication templates" as `URL`; they carry the same code as the body. Pure. */
function readComponents(listed: readonly Component[], authentication: boolean): ReadComponents {
  const header = headerOf(listed.find((one) => typeOf(one) === 'HEADER'));
  const body = listed.find((one) => typeOf(one) === 'BODY');
  const footer = listed.find((one) => typeOf(one) === 'FOOTER');
  const buttons = listed.flatMap((one) => partsOf(one.buttons)).map((button) => buttonOf(button, authentication));
  const offer = listed.find((one) => typeOf(one) === 'LIMITED_TIME_OFFER');
  const carousel = listed.find((one) => typeOf(one) === 'CAROUSEL');
  const cards = partsOf(carousel?.cards).map((card) => readComponents(partsOf(card.components), false));
  const components: TemplateComponents = {
    ...(header === undefined ? {} : { header }),
    ...(body === undefined ? {} : { body: text(body.text) }),
    ...(footer === undefined ? {} : { footer: text(footer.text) }),
    buttons: buttons.filter((button) => button !== undefined),
    ...(offer === undefined ? {} : { offer: offerOf(offer) }),
    ...(carousel === undefined ? {} : { cards: cards.map((card) => card.components) }),
  };
  const unsendable =
    listed.map(foreignPart).find((part) => part !== undefined) ??
    cards.find((card) => card.unsendable !== undefined)?.unsendable ??
    (carousel !== undefined && !isCarousel(cards) ? 'a carousel without cards' : oddVariables(components));
  return unsendable === undefined ? { components } : { components, unsendable };
}

function isCarousel(cards: readonly ReadComponents[]): boolean {
  return cards.length > 0 && cards.every(({ components }) => components.cards === undefined);
}

/** The offer shows its end unless it says otherwise ("Limited-time offer templates"). */
function offerOf({ limited_time_offer: given }: Component): NonNullable<TemplateComponents['offer']> {
  const { text: words, has_expiration: expires } = objectOf(given) ?? {};
  return { text: text(words), expires: expires !== false };
}

function headerOf(component: Component | undefined): TemplateHeader | undefined {
  if (component === undefined) return undefined;
  const format = word(component.format).toLowerCase();
  if (format === 'text') return { format, text: text(component.text) };
  if (format === 'location' || format === 'product') return { format };
  const media = MEDIA_HEADERS.find((known) => known === format);
  return media === undefined ? undefined : { format: media };
}

function buttonOf(button: Component, authentication: boolean): TemplateButton | undefined {
  const listed = BUTTON_TYPES.find((known) => known === typeOf(button).toLowerCase());
  if (listed === undefined) return undefined;
  const url = text(button.url);
  const isCode = authentication && listed === 'url' && variablesIn(url).length > 0;
  return {
    type: isCode ? 'otp' : listed,
    text: text(button.text),
    ...(url === '' ? {} : { url }),
    ...(typeof button.phone_number === 'string' ? { phoneNumber: word(button.phone_number) } : {}),
  };
}

/** Names, in words, a part of the component that our API has no fields for. */
function foreignPart(component: Component): string | undefined {
  switch (typeOf(component)) {
    case 'BODY':
    case 'FOOTER':
    case 'CAROUSEL':
    case 'LIMITED_TIME_OFFER':
      return undefined;
    case 'HEADER':
      return headerOf(component) === undefined ? `a header of type ${word(component.format).toLowerCase()}` : undefined;
    case 'BUTTONS': {
      const foreign = partsOf(component.buttons).find((button) => buttonOf(button, false) === undefined);
      return foreign === undefined ? undefined : `a button of type ${typeOf(foreign).toLowerCase()}`;
    }
    default:
      return `a component of type ${typeOf(component).toLowerCase()}`;
  }
}

/** Variables without a known order, in words. Approved templates have none (WhatsApp, "Template components"). */
function oddVariables({ header, body = '', buttons }: TemplateComponents): string | undefined {
  const texts = [header?.format === 'text' ? header.text : '', body, ...buttons.map(({ url = '' }) => url)];
  for (const variables of texts.map(variablesIn)) {
    const numbers = variables.filter(isNumber);
    if (numbers.length > 0 && numbers.length < variables.length) return 'variables of which some have names';
    if (numbers.some((number, i) => number !== String(i + 1))) return 'variables that are not numbered 1, 2, 3';
  }
  const several = buttons.some(({ url = '' }) => variablesIn(url).length > 1);
  return several ? 'a button with more than one variable' : undefined;
}

function partsOf(value: unknown): readonly Component[] {
  return Array.isArray(value) ? value.map(objectOf).filter((entry) => entry !== undefined) : [];
}

function typeOf(component: Component): string {
  return word(component.type).toUpperCase();
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function word(value: unknown): string {
  return text(value).slice(0, WORD_MAX);
}
