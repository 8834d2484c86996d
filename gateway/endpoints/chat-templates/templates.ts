import type { Db } from 'mongodb';
import { z } from 'zod';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import {
  type ChatTemplateDocument,
  type ChatTemplateRequestDocument,
  chatTemplateId,
  type DraftExamples,
  type TemplateComponents,
  type TemplateDraft,
  type TemplateOwner,
} from '../../../shared/templates/chat/chat-template.ts';
import {
  findChatTemplate,
  findChatTemplateRequests,
  findChatTemplates,
  listChatTemplatePage,
  listChatTemplateRequests,
} from '../../../shared/templates/chat/store.ts';
import { endpoint, invalid, type Shown } from '../../api/endpoint.ts';
import { flag, named, pageShape, text, time } from '../../api/shapes.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { matching, optional } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, readsPer } from '../../http/fields/query.ts';
import { numberMeant, templatesOfNumber } from '../chatapp/numbers.ts';
import { describeParam, paramsOf } from '../chatapp/template-params.ts';
import { HEADERS } from './draft-fields.ts';

/** An account's chat-app templates, listed by the provider or requested. New requests: requests.ts. */

export const Name = text(undefined, { example: 'order_left' });
export const Language = text(undefined, { example: 'en_US' });

const Header = z.strictObject({ format: z.enum(HEADERS), text: text().nullable() }).nullable();

const Buttons = z.array(
  z.strictObject({
    type: text(undefined, { example: 'quick_reply' }),
    text: text(undefined, { example: 'Where is it?' }),
    url: text().nullable(),
    phone_number: text().nullable(),
  }),
);

export const OwnChatTemplate = named('OwnChatTemplate', 'A template of the chat-app channel with what was asked for.', {
  name: Name,
  business_id: text("The provider's business account that has it, or is to have it.", { example: '102290129340398' }),
  language: Language.describe('As WhatsApp writes it: `en`, `en_US`.'),
  category: text("The provider's category, which may differ from the one that was asked for.", {
    example: 'utility',
  }),
  state: text(
    "`requested`: the provider was not asked yet. Then the provider's word: `pending` (the review takes 24 to 48 hours), `approved`, `rejected`, `paused`, `disabled` … Only `approved` ones can be sent.",
    { example: 'requested' },
  ),
  reason: text("Why it was rejected, paused or disabled, in the provider's words.").nullable(),
  held_back: z
    .strictObject({
      word: text(undefined, { example: 'held_for_quality_assessment' }),
      at: time(undefined, '2026-11-28T10:00:00+00:00'),
    })
    .meta({
      description:
        'When the provider last took a message with it and held it back, in its word: it looks at the quality of a template first. Null: never.',
    })
    .nullable(),
  quality: text("The provider's opinion: `green`, `yellow`, `red` or `unknown`.").nullable(),
  change: text('What waits to be told to the provider: `create`, `edit` or `delete`.', {
    example: 'create',
  }).nullable(),
  change_refused: text('Why the provider did not make the last change.').nullable(),
  submitted_at: text('When it was asked for here, or changed last.', {
    format: 'date-time',
    example: '2026-11-22T10:00:00+00:00',
  }).nullable(),
  cannot_be_sent: text('The part of it that cannot be sent from here.').nullable(),
  params: z.array(text()).meta({ description: 'What stands at each place of `params` of `/v2/chatapp/send`.' }),
  header: Header,
  body: text(undefined, { example: 'Hello {{1}}, your order has left.' }).nullable(),
  footer: text().nullable(),
  buttons: Buttons,
  offer: z
    .strictObject({ text: text(), expires: flag('Each message says when, in `offer_expires_at`.') })
    .meta({ description: 'Of a limited-time offer.' })
    .nullable(),
  cards: z
    .array(
      z.strictObject({
        params: z.array(text()).meta({ description: 'What stands at each place of its `params`.' }),
        header: Header,
        body: text().nullable(),
        buttons: Buttons,
      }),
    )
    .meta({ description: 'Of a carousel.' })
    .nullable(),
  examples: z
    .strictObject({
      header: text().optional(),
      header_url: text('Where the sample file of the header is.').optional(),
      body: z.array(text()).meta({ example: ['Asha'] }),
      buttons: z.array(text().nullable()).meta({ example: [null] }),
      cards: z
        .array(
          z.strictObject({
            header_url: text().optional(),
            body: z.array(text()),
            buttons: z.array(text().nullable()),
          }),
        )
        .meta({ description: 'Those of its cards.' })
        .optional(),
    })
    .meta({ description: 'The examples that were given for the review.' })
    .nullable(),
});

export interface OwnTemplate {
  readonly listed?: ChatTemplateDocument | undefined;
  readonly asked?: ChatTemplateRequestDocument | undefined;
}

const word = (description: string) => optional(matching(description, /^[A-Za-z0-9_-]{1,64}$/, 'one word'));

export const ownChatTemplates = endpoint({
  id: 'ownChatTemplates',
  call: 'chatTemplates.list',
  method: 'get',
  path: '/v2/account/chatapp/templates',
  tag: 'Account',
  summary: 'Chat-app templates with their states',
  description:
    'Extension. What the provider lists, with what was asked for and is not listed yet, by business account, name and language. With `from` only those of that number’s business account. A page counts as one request for each 100 of `limit`.',
  scopes: ['read', 'manage'],
  test: 'same',
  query: {
    state: word('Templates of this state.'),
    language: word('Templates of this language.'),
    from: templatesOfNumber,
    limit,
    cursor: cursorOf('chat_templates', isPlace),
  },
  reads: readsPer(100),
  answer: pageShape('OwnChatTemplatePage', OwnChatTemplate),
  async handle({ db }, { caller, query: { state, language, from, limit, cursor: after } }) {
    const account = caller.account._id;
    const problems = new FieldProblems();
    const number = from === undefined ? undefined : await numberMeant({ db }, account, from, problems);
    if (problems.count > 0) return invalid(problems);
    const business = number?.businessId;
    const { page, last } = await readPage(db, account, { business, state, language, after }, limit);
    return pageOf('chat_templates', page.map(chatTemplateRecord), last && placeOf(last));
  },
});

interface Wanted {
  readonly business: string | undefined;
  readonly state: string | undefined;
  readonly language: string | undefined;
  readonly after: string | undefined;
}

interface Page {
  readonly page: readonly OwnTemplate[];
  /** The last id of the page; undefined when nothing can follow. */
  readonly last: string | undefined;
}

/** The provider's list, merged with requests that it does not list (yet). A page may be empty and not the last. */
async function readPage(db: Db, account: AccountId, wanted: Wanted, limit: number): Promise<Page> {
  const { business, state, language, after } = wanted;
  const most = limit + 1;
  const [listed, asked] = await Promise.all([
    listChatTemplatePage(db, account, { business, language, status: state }, after, most),
    listChatTemplateRequests(db, account, { business, language, after }, most),
  ]);
  const [templates, requests] = await Promise.all([
    findChatTemplates(
      db,
      asked.map(({ _id }) => _id),
    ),
    findChatTemplateRequests(
      db,
      listed.map(({ _id }) => _id),
    ),
  ]);
  const known: OwnTemplate[] = listed.map((one) => ({ listed: one, asked: requests.get(one._id) }));
  const waiting: OwnTemplate[] = asked.filter(({ _id }) => !templates.has(_id)).map((one) => ({ asked: one }));
  // Other requests may follow the last one read, so the next page begins there, even if this page is empty.
  const end = asked.length < most ? undefined : asked.at(-1)?._id;
  const found = [...known, ...waiting]
    .filter((one) => state === undefined || stateOf(one) === state)
    .filter((one) => end === undefined || keyOf(one) <= end)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const page = found.slice(0, limit);
  const lastShown = page.at(-1);
  return { page, last: found.length > limit && lastShown !== undefined ? keyOf(lastShown) : end };
}

function keyOf({ listed, asked }: OwnTemplate): string {
  return listed?._id ?? asked?._id ?? '';
}

function placeOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

function isPlace(text: string): text is string {
  return /^[\w-]{1,64}:[^\s:]{1,512}:[\w-]{1,35}$/.test(text);
}

/** Reads the request first: if the worker finishes it in between, its template is stored by then. */
export async function readOwn(db: Db, owner: TemplateOwner, name: string, language: string): Promise<OwnTemplate> {
  const id = chatTemplateId(owner, name, language);
  const asked = (await findChatTemplateRequests(db, [id])).get(id);
  return { listed: await findChatTemplate(db, owner, name, language), asked };
}

/**
 * `state`: the provider's status of the template. Until the provider lists it: `requested`, or `rejected` if it refused
 * the request. `deleted`: the provider no longer lists it. `change`: what the provider has still to be asked for.
 */
export function chatTemplateRecord({ listed, asked }: OwnTemplate): Shown<typeof OwnChatTemplate> {
  const { name, language, business } = listed ?? asked ?? { name: '', language: '', business: '' };
  const shown = asked?.wants === 'edit' || listed === undefined ? asked?.draft?.components : undefined;
  const components = listed?.components ?? shown ?? { buttons: [] };
  return {
    name,
    business_id: business,
    language,
    category: listed?.category ?? asked?.draft?.category ?? '',
    state: stateOf({ listed, asked }),
    reason: (listed === undefined ? asked?.refusal : listed.reason) ?? null,
    held_back: listed?.heldBack ? { word: listed.heldBack.word, at: isoTimestamp(listed.heldBack.at) } : null,
    quality: listed?.quality ?? null,
    change: asked?.due === undefined ? null : asked.wants,
    change_refused: (listed === undefined ? undefined : asked?.refusal) ?? null,
    submitted_at: asked === undefined ? null : isoTimestamp(asked.requestedAt),
    cannot_be_sent: listed?.unsendable ?? null,
    params: listed === undefined ? [] : placesOf(listed.components),
    ...contentOf(components),
    footer: components.footer ?? null,
    offer: components.offer ?? null,
    cards: components.cards?.map((card) => ({ ...contentOf(card), params: placesOf(card) })) ?? null,
    examples: asked?.draft === undefined ? null : examplesOf(asked.draft),
  };
}

export function stateOf({ listed, asked }: OwnTemplate): string {
  if (listed !== undefined) return listed.status;
  if (asked !== undefined && isGone(asked)) return 'deleted';
  return asked?.refusal === undefined ? 'requested' : 'rejected';
}

/**
 * Whether the provider had the unlisted template once. A request ends when its template is stored or refused, so a
 * request that ended without a refusal had been stored.
 */
function isGone({ wants, due, refusal }: ChatTemplateRequestDocument): boolean {
  return due === undefined && (refusal === undefined || wants !== 'create');
}

function examplesOf({ examples: { cards, header, ...own } }: TemplateDraft) {
  return { ...exampleOf(own), ...defined({ header, cards: cards?.map(exampleOf) }) };
}

function exampleOf({ headerUrl, body, buttons }: DraftExamples) {
  return { ...{ body, buttons }, ...defined({ header_url: headerUrl }) };
}

function placesOf(components: TemplateComponents): string[] {
  return paramsOf({ components }).map((param) => describeParam(param, components));
}

function contentOf({ header, body, buttons }: TemplateComponents) {
  return {
    header:
      header === undefined ? null : { format: header.format, text: header.format === 'text' ? header.text : null },
    body: body ?? null,
    buttons: buttons.map(({ type, text, url, phoneNumber }) => ({
      type,
      text,
      url: url ?? null,
      phone_number: phoneNumber ?? null,
    })),
  };
}

/** Chat-app templates by state, and requests not sent yet. The dashboard reloads its list when they change. */
export async function countChatTemplates(db: Db, account: AccountId): Promise<object> {
  const [states, waiting] = await Promise.all([
    db
      .collection<ChatTemplateDocument>('chat_templates')
      .aggregate<{ readonly _id: string; readonly count: number }>([
        // A range of `_id`: the semicolon follows the colon.
        { $match: { _id: { $gt: `${account}:`, $lt: `${account};` } } },
        { $group: { _id: '$status', count: { $sum: 1 } } },
      ])
      .toArray(),
    db
      .collection<ChatTemplateRequestDocument>('chat_template_requests')
      .countDocuments({ account, due: { $exists: true } }),
  ]);
  return { states: Object.fromEntries(states.map(({ _id, count }) => [_id, count] as const).sort()), waiting };
}
