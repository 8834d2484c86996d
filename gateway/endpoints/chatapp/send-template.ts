import type { Db } from 'mongodb';
import { optedInOf } from '../../../shared/carriers/chat-opt-in-store.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import type { ChatContent } from '../../../shared/messages/document/chat-message.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { customerOf, marketingStoppedAt, readPerson, readPersons } from '../../../shared/money/conversations/person.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { type AccountId, isTestAccount, liveAccountOf, newId } from '../../../shared/platform/runtime/ids.ts';
import {
  type ChatTemplateDocument,
  MEDIA_HEADERS,
  type MediaHeader,
  type TemplateComponents,
} from '../../../shared/templates/chat/chat-template.ts';
import { findChatTemplate, placesOf } from '../../../shared/templates/chat/store.ts';
import { done, endpoint, type Gateway } from '../../api/endpoint.ts';
import { id, success } from '../../api/shapes.ts';
import { isObject, type JsonObject } from '../../http/context.ts';
import { FieldProblems, fieldRefusal } from '../../http/field-problems.ts';
import { list, otherwise, required } from '../../http/fields/field.ts';
import type { UrlCheck } from '../../http/fields/public-url.ts';
import { type Given, request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { PROBLEMS } from '../../http/problem.ts';
import { EXTENSIONS, extensionProblem, text, to } from './fields.ts';
import {
  checkButtons,
  checkHeader,
  checkOffer,
  checkValues,
  type Entry,
  fillTemplate,
  type GivenCard,
  type GivenHeader,
  saysParamsOnly,
  TEMPLATE_EXTENSIONS,
} from './fill-template.ts';
import { numbersOf } from './numbers.ts';
import { checkProducts, type GivenProducts } from './products.ts';
import {
  type Asked,
  answerOr,
  type ChatOrder,
  ChatResult,
  type CodeSend,
  chatSend,
  DRY_RUN_EXAMPLE,
  REFUSALS,
} from './send.ts';
import { checkCount, PARAMS_MAX, wantedParams } from './template-params.ts';

/**
 * Limits: the Graph API takes names of up to 512 characters, language codes are far shorter than 32, URLs have at most
 * 2,048 characters. Limits of a text depend on its place in the template (template-params.ts).
 */
export const TEMPLATE = request({
  to,
  template: required(text({ description: 'Name of an approved template.', maxLength: 512 })),
  language: required(
    text({ description: 'Its language code, as `GET /v2/chatapp/templates` shows it.', maxLength: 32 }),
  ),
  params: otherwise(
    list(text({ description: 'A value.', maxLength: 2_048 }), {
      description:
        'Values for its variables, in the order in which they stand in it: header (for an image, video or document the https address of the file), body, buttons (url suffixes, codes to copy). A one-time password is given once. Leave it out if there are none.',
      maxItems: PARAMS_MAX,
    }),
    () => [],
  ),
  ...TEMPLATE_EXTENSIONS,
  ...EXTENSIONS,
});

type TemplateSend = Asked<typeof TEMPLATE.fields>;

export const chatappSend = endpoint({
  id: 'chatappSend',
  call: 'chatapp.send',
  method: 'post',
  path: '/v2/chatapp/send',
  tag: 'Chat-app',
  summary: 'Send a template',
  description:
    'A template can be sent at any time. It is the only message with which a business may begin a conversation. `params` are the values of its variables in the order in which they stand in it: header, body, buttons. For an image, video or document in the header the value is the https address of the file; a location is given in `header`. Buttons: the suffix of an url, the code to copy; a one-time password is given once, for body and button. With a wrong number of `params`, also as a dry run, the answer lists what each position is. A limited-time offer needs `offer_expires_at`, products of the catalog `products`, a carousel `cards`: the values of each card in its own `params`. The first message opens a conversation of 24 hours and pays for it; it costs less if the customer wrote within the last 24 hours. A refused request is neither stored nor charged. If every message of a conversation fails, its credits are refunded, once.',
  scopes: ['send'],
  test: 'apart',
  body: TEMPLATE,
  ownProblems: true,
  answer: answerOr(
    'ChatTemplateAnswer',
    'ChatTemplateResult',
    success('ChatTemplateResult', 'A template message was accepted.', {
      message_id: ChatResult.shape.message_id,
      conversation_id: id(
        'cnv',
        'The conversation that it belongs to. It lasts 24 hours, is charged once, and is refunded if the provider took none of its messages.',
        'cnv_01m7znjn7hdb5pft3awkb6pgvy',
      ),
    }),
  ),
  problems: [
    'url_not_allowed',
    'template_not_approved',
    'template_not_supported',
    'recipient_not_opted_in',
    'marketing_opted_out',
    ...REFUSALS,
  ],
  examples: {
    body: {
      template: { to: '919876543210', template: 'order_update', language: 'en_US', params: ['Asha', '#1234'] },
      'image and buttons': {
        to: '919876543210',
        template: 'order_shipped',
        language: 'en_US',
        params: ['https://media.example.com/parcel.jpg', 'Asha', '1234', 'track/1234'],
        buttons: [{ payload: 'WHERE-1234' }, { payload: 'CALL-1234' }],
      },
      location: {
        to: '919876543210',
        template: 'store_visit',
        language: 'en_US',
        params: ['Asha'],
        header: { latitude: 12.9758, longitude: 77.6045, name: 'Demo Shop', address: 'MG Road, Bengaluru' },
      },
      carousel: {
        ...{ to: '919876543210', template: 'season', language: 'en_US', params: ['Asha'] },
        cards: [
          { params: ['https://media.example.com/1.jpg', '20', 'roses'], buttons: [{ payload: 'MORE-1' }] },
          { params: ['https://media.example.com/2.jpg', '30', 'lilies'], buttons: [{ payload: 'MORE-2' }] },
        ],
      },
      'list of products': {
        ...{ to: '919876543210', template: 'forgotten_cart', language: 'en_US', params: ['Asha', '10OFF'] },
        products: { product_id: 'sku-1', sections: [{ title: 'Your cart', product_ids: ['sku-1', 'sku-2'] }] },
      },
    },
    answer: {
      accepted: {
        status: 'success',
        message_id: 'msg_01m7znjn7hdb5pft3awkb6pgvz',
        conversation_id: 'cnv_01m7znjn7hdb5pft3awkb6pgvy',
      },
      'dry run': DRY_RUN_EXAMPLE,
    },
  },
  newId: ({ clock }) => newId('msg', clock.now().getTime()),
  action: (deps) => templateSend(deps),
});

/** `code`: the verification whose code the template carries. */
export function templateSend(deps: Gateway, code?: CodeSend) {
  return chatSend(
    deps,
    {
      anytime: true,
      async order(asked: TemplateSend, provider) {
        const { db, mediaUrl } = deps;
        const { caller, read } = asked;
        const account = liveAccountOf(caller.account._id);
        const isTest = isTestAccount(caller.account._id);
        const { to: recipient, template: name, language, params } = read.given;
        if (name === undefined || language === undefined) return { content: undefined };
        if (provider === undefined && params && isTest) {
          // A first test needs neither a provider nor its templates.
          return { content: { kind: 'template', name, language, params } };
        }
        if (provider === undefined) return { content: undefined };
        // The request names only the template; the number determines the business account.
        const template = await findChatTemplate(db, { account, business: provider.businessId }, name, language);
        if (template === undefined) {
          return { content: undefined, refused: await notFound(deps, provider, name, language) };
        }
        const unusable = refusedTemplate(template);
        if (unusable?.problem[0] === 'template_not_supported') return { content: undefined, refused: unusable };
        // The provider would refuse it (131062).
        if (template.category === 'authentication' && recipient !== undefined && isCustomerUserId(recipient)) {
          read.problems.add('to', 'number_needed', await numberNeeded(db, caller.account._id, recipient));
        }
        const order = orderOf(template, asked, mediaUrl);
        // Wishes of real customers are not shown to test keys.
        const refused = unusable ?? (isTest ? undefined : await refusedRecipient(db, provider, template, recipient));
        return refused === undefined ? order : { ...order, refused };
      },
      result: ({ _id, conversation }) => done({ message_id: _id, conversation_id: conversation }),
    },
    code,
  );
}

function orderOf(template: ChatTemplateDocument, { caller, json, read }: TemplateSend, urlCheck: UrlCheck): ChatOrder {
  const { given, problems } = read;
  const { components, name, language } = template;
  const account = caller.account._id;
  const { params, header, buttons, products, offer_expires_at: offerExpiresAt } = given;
  const wanted = wantedParams(components, isObject(json.header) && Object.hasOwn(json.header, 'url'));
  const counted = checkCount(json.params, wanted, components, problems);
  if (!Object.hasOwn(json, 'header') || header !== undefined) checkHeader(header, components, problems);
  checkButtons(buttons, components, problems);
  if (!Object.hasOwn(json, 'products') || products !== undefined) checkProducts(products, components, problems);
  if (!Object.hasOwn(json, 'offer_expires_at') || offerExpiresAt !== undefined) {
    checkOffer(offerExpiresAt, components, problems);
  }
  const cards = fillCards({ components, given, json, account }, urlCheck, problems);
  if (params === undefined || !counted) return { content: undefined };
  const entries = wanted.map((param, i): Entry => ({ param, value: params[i] ?? '', field: `params[${i}]` }));
  checkValues(entries, components, problems);
  const own = mediaOf(account, entries, components, header);
  if (own !== undefined) checkMedia(own, urlCheck, problems);
  if (problems.count > 0) return { content: undefined };
  const part = fillTemplate(entries, components, defined({ header, buttons, products }));
  const filled = { ...part, ...defined({ offerExpiresAt, cards: cards?.filled }) };
  const content: ChatContent = {
    kind: 'template',
    name,
    language,
    params,
    ...(saysParamsOnly(filled) ? {} : { filled }),
  };
  const media = [own, ...(cards?.media ?? [])].filter((one) => one !== undefined);
  if (media.length === 0) return { content };
  return {
    content,
    askNetwork: async () => {
      for (const one of media) await checkMediaHost(one, urlCheck, problems);
    },
  };
}

interface AskedCards {
  readonly components: TemplateComponents;
  readonly given: Given<typeof TEMPLATE.fields>;
  readonly json: JsonObject;
  readonly account: AccountId;
}

/** Undefined when the template has no cards, or one of them has a problem. */
function fillCards({ components, given, json, account }: AskedCards, urlCheck: UrlCheck, problems: FieldProblems) {
  const { cards: own } = components;
  const { cards, products } = given;
  if (cards === undefined && Object.hasOwn(json, 'cards')) return undefined;
  if (own === undefined) {
    if (cards !== undefined) problems.add('cards', 'conflict', 'The template has no cards. Leave `cards` out.');
    return undefined;
  }
  if (cards?.length !== own.length) {
    problems.add('cards', 'wrong_count', `The template has ${own.length} cards; ${cards?.length ?? 0} are given.`);
    return undefined;
  }
  const before = problems.count;
  const filled = own.map((card, i) =>
    fillCard(card, cards[i], { at: `cards[${i}]`, account, products }, urlCheck, problems),
  );
  if (problems.count > before) return undefined;
  return { filled: filled.map((one) => one.filled), media: filled.flatMap((one) => one.media ?? []) };
}

interface CardPlace {
  readonly at: string;
  readonly account: AccountId;
  readonly products: GivenProducts | undefined;
}

function fillCard(
  components: TemplateComponents,
  given: GivenCard | undefined,
  { at, account, products }: CardPlace,
  urlCheck: UrlCheck,
  problems: FieldProblems,
) {
  const { params = [], buttons, product_id: product } = given ?? {};
  const found = new FieldProblems();
  const wanted = wantedParams(components, false);
  const entries = checkCount(params, wanted, components, found)
    ? wanted.map((param, i): Entry => ({ param, value: params[i] ?? '', field: `params[${i}]` }))
    : [];
  checkButtons(buttons, components, found);
  const shows = components.header?.format === 'product';
  if (shows && product === undefined) found.add('product_id', 'missing_field', 'The card shows a product: say which.');
  if (!shows && product !== undefined) found.add('product_id', 'conflict', 'The card shows no product.');
  checkValues(entries, components, found, true);
  const media = mediaOf(account, entries, components, undefined);
  if (media !== undefined) checkMedia(media, urlCheck, found);
  for (const { field, code, detail } of found.listed) problems.add(`${at}.${field}`, code, detail);
  const own = { ...defined({ catalog_id: products?.catalog_id, product_id: product }) };
  return {
    filled: fillTemplate(entries, components, { ...defined({ buttons }), products: own }),
    media: media && { ...media, field: `${at}.${media.field}` },
  };
}

async function numberNeeded(db: Db, account: AccountId, id: string): Promise<string> {
  const number = customerOf(account, await readPerson(db, account, id)).number;
  const known =
    number === undefined
      ? '`POST /v2/chatapp/send-interactive` of the type `contact_request` asks for it.'
      : `It is ${number}.`;
  return `A template with a code goes to a phone number only: give the number of the customer. ${known}`;
}

async function notFound(
  deps: Gateway,
  { _id: number, account, businessId }: ProviderDocument,
  name: string,
  language: string,
): Promise<Refused> {
  const places = await placesOf(deps.db, account, name);
  const own = places.filter(({ business }) => business === businessId).map((place) => place.language);
  const others = places.filter((place) => place.business !== businessId && place.language === language);
  const numbers = (await numbersOf(deps).get(account)) ?? [];
  // The template belongs to another business account of the account; only its own numbers can send it.
  const elsewhere = numbers.find((one) => others.some(({ business }) => business === one.businessId));
  const whose = numbers.length > 1 ? `The business account of ${number}` : 'The account';
  const [field, see] =
    elsewhere !== undefined
      ? (['from', `That of ${elsewhere._id} has it: give that number as \`from\`.`] as const)
      : own.length > 0
        ? (['language', `It has it in ${own.join(', ')}.`] as const)
        : (['template', 'GET /v2/chatapp/templates lists those it has.'] as const);
  const detail = `${whose} has no template "${name}" in the language "${language}". ${see}`;
  return { kind: 'refused', problem: fieldRefusal('template_not_found', field, detail) };
}

function refusedTemplate({ name, status, unsendable }: ChatTemplateDocument): Refused | undefined {
  if (status !== 'approved') {
    const detail = `The template "${name}" is ${status}, not approved. ${PROBLEMS.template_not_approved.advice}`;
    return { kind: 'refused', problem: fieldRefusal('template_not_approved', 'template', detail) };
  }
  if (unsendable === undefined) return undefined;
  const detail = `The template "${name}" has ${unsendable}, which cannot be sent. Use a template without it.`;
  return { kind: 'refused', problem: fieldRefusal('template_not_supported', 'template', detail) };
}

/** Read from the store each time: a customer who withdrew consent must not get another template. */
async function refusedRecipient(
  db: Db,
  provider: ProviderDocument | undefined,
  { account, category }: ChatTemplateDocument,
  to: string | undefined,
): Promise<Refused | undefined> {
  if (to === undefined) return undefined;
  if (category === 'marketing') {
    const stopped = marketingStoppedAt(await readPerson(db, account, to));
    if (stopped !== undefined) {
      const detail = `The customer stopped your marketing messages at ${isoTimestamp(stopped)}. ${PROBLEMS.marketing_opted_out.advice}`;
      return { kind: 'refused', problem: fieldRefusal('marketing_opted_out', 'to', detail) };
    }
  }
  if (provider?.optIn !== 'list') return undefined;
  const optedIn = await optedInOf(db, account, [to], (customers) => readPersons(db, account, customers));
  if (optedIn.has(to)) return undefined;
  return { kind: 'refused', problem: fieldRefusal('recipient_not_opted_in', 'to') };
}

interface HeaderMedia {
  readonly account: AccountId;
  readonly format: MediaHeader;
  readonly url: string;
  readonly field: string;
}

function mediaOf(
  account: AccountId,
  entries: readonly Entry[],
  { header }: TemplateComponents,
  given: GivenHeader | undefined,
): HeaderMedia | undefined {
  const format = MEDIA_HEADERS.find((one) => one === header?.format);
  if (format === undefined) return undefined;
  if (given?.url !== undefined) return { account, format, url: given.url, field: 'header.url' };
  const entry = entries.find(({ param }) => param.fills === 'media');
  return entry && { account, format, url: entry.value, field: entry.field };
}

function checkMedia(media: HeaderMedia, urlCheck: UrlCheck, problems: FieldProblems): void {
  const { account, format, url, field } = media;
  const found = new FieldProblems();
  urlCheck.form(account, url, field, found);
  const extension = extensionProblem(format, url);
  if (extension !== undefined) found.add(field, 'unsupported_media_type', extension);
  tell(media, found, problems);
}

/** For a URL that passed `checkMedia`. */
async function checkMediaHost(media: HeaderMedia, urlCheck: UrlCheck, problems: FieldProblems): Promise<void> {
  const found = new FieldProblems();
  await urlCheck.host(media.account, media.url, media.field, found);
  tell(media, found, problems);
}

function tell({ format, field }: HeaderMedia, { listed }: FieldProblems, problems: FieldProblems): void {
  for (const { code, detail } of listed) {
    problems.add(field, code, `This is the https address of the ${format} in the header. ${detail}`);
  }
}
