import { type Meaning, REFUSAL_WORDS, readMeaning, showMeaning } from './answers.ts';
import { listOf, matching, oneOf, type Shape, setting, type Values } from './setting.ts';

/**
 * What a template may contain in braces. `to` and `sender`: written as the address settings say; `basic`:
 * `user:password` in Base64; `callback`: the URL for receipts; `unicode`: 1 for a text beyond the GSM alphabet, else 0;
 * `template`, `entity`: ids of India's DLT. A body field whose value a message lacks is left out.
 */
const PLACEHOLDERS = [
  'to',
  'sender',
  'text',
  'id',
  'user',
  'password',
  'basic',
  'callback',
  'unicode',
  'template',
  'entity',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** Their values never have characters that a path or a header forbids. */
const OF_CARRIER: readonly Placeholder[] = ['user', 'password', 'basic'];

function asksOnly(text: string, known: readonly string[]): boolean {
  const asked = [...text.matchAll(/\{([a-z]+)\}/g)].map(([, name = '']) => name);
  return asked.every((name) => known.includes(name)) && !/[{}]/.test(text.replaceAll(/\{[a-z]+\}/g, ''));
}

/** A header, or a field of a form or query. */
export interface NamedTemplate {
  readonly name: string;
  readonly template: string;
}

function namedTemplate(form: string, name: RegExp, template: RegExp, known: readonly string[]): Shape<NamedTemplate> {
  return {
    value: 'NAME=TEMPLATE',
    form,
    parse: (text) => {
      const at = text.indexOf('=');
      const [before, after] = [text.slice(0, at), text.slice(at + 1)];
      return at > 0 && name.test(before) && template.test(after) && asksOnly(after, known)
        ? { name: before, template: after }
        : undefined;
    },
    show: (one) => `${one.name}=${one.template}`,
  };
}

const header = namedTemplate(
  'like authorization=Basic {basic}, of {user}, {password} and {basic}; not content-type',
  /^(?!(?:host|connection|content-|transfer-|expect|te$|upgrade))[a-z][a-z0-9-]{0,63}$/,
  /^[\x20-\x7e]{1,400}$/,
  OF_CARRIER,
);
const field = namedTemplate(
  `like To={to} or Body={text}, of ${PLACEHOLDERS.map((one) => `{${one}}`).join(', ')}`,
  /^[\w.[\]-]{1,64}$/,
  /^[\x20-\x7e]{0,400}$/,
  PLACEHOLDERS,
);

const MAX_JSON = 4_000;

/** A JSON text whose strings are templates. Stored as written. */
const jsonTemplate: Shape<string> = {
  value: 'JSON',
  form: `empty, or a JSON object of at most ${MAX_JSON} characters whose strings may have {to}, {text} and so on`,
  parse: (text) => {
    if (text === '') return text;
    try {
      const strings: string[] = [];
      const value: unknown = JSON.parse(text, (_, one: unknown) => {
        if (typeof one === 'string') strings.push(one);
        return one;
      });
      const fits = text.length <= MAX_JSON && strings.every((one) => asksOnly(one, PLACEHOLDERS));
      return fits && typeof value === 'object' && value !== null ? text : undefined;
    } catch {
      return undefined;
    }
  },
  show: (text) => text,
};

const path: Shape<string> = {
  value: 'PATH',
  form: 'a path that begins with /, perhaps with a query, of {user} and {password}',
  parse: (text) =>
    /^\/[\x21-\x7e]{0,400}$/.test(text) && !text.includes('#') && asksOnly(text, OF_CARRIER) ? text : undefined,
  show: (text) => text,
};

/** Names separated by dots; places in lists are numbers from 0. */
const PLACE = 'members by dots like messages.0.messageId; text stands for a whole answer that is no JSON';
const place = matching('PLACE', PLACE, /^[\w-]{1,64}(\.[\w-]{1,64}){0,9}$/);
const places = listOf(place, 4);
const perhaps = matching('PLACE', `empty, or ${PLACE}`, /^([\w-]{1,64}(\.[\w-]{1,64}){0,9})?$/);

const ANSWER_WORDS = ['accepted', ...REFUSAL_WORDS] as const;

export interface AnswerMeaning extends Meaning<(typeof ANSWER_WORDS)[number]> {
  readonly code: string;
}

const answerMeaning: Shape<AnswerMeaning> = {
  value: 'CODE=MEANING:SECONDS',
  form: `like 21610=fail or http_503=retry:60, one of ${ANSWER_WORDS.join(', ')}, perhaps with a pause in seconds`,
  parse: (text) => {
    const [, code, said = ''] = /^([\w.-]{1,64})=(.*)$/.exec(text) ?? [];
    const meaning = readMeaning(ANSWER_WORDS, said);
    return code === undefined || meaning === undefined ? undefined : { code, ...meaning };
  },
  show: ({ code, ...meaning }) => `${code}=${showMeaning(meaning)}`,
};

const MAX_FIELDS = 40;
const MAX_MEANINGS = 100;

/** With --kind http: the request that sends a message, what its answer means, and the callback that brings receipts. */
export const HTTP = {
  requestMethod: setting(oneOf(['POST', 'GET']), 'POST', 'method of the request; with GET the form is its query'),
  requestPath: setting(path, '/', 'path of the request at the host and port'),
  requestHeaders: setting(listOf(header, MAX_FIELDS), [], 'headers of the request: how it shows who we are'),
  requestForm: setting(listOf(field, MAX_FIELDS), [], 'fields of the request, as a form (or query)'),
  requestJson: setting(jsonTemplate, '', 'body of the request as JSON, in place of the form'),
  answerId: setting(places, ['id'], 'where the answer has the message id; the first that is there counts'),
  answerCode: setting(places, [], 'where it has the carrier’s own code; the first that the answer class knows counts'),
  answerClass: setting(
    listOf(answerMeaning, MAX_MEANINGS),
    [],
    'what codes mean, its own ones first, then http_ and the status; 2xx with an id is accepted by itself',
  ),
  callbackList: setting(perhaps, '', 'where a callback has the list of its receipts; empty: it is one receipt'),
  callbackId: setting(places, ['id'], 'where a receipt has the message id'),
  callbackWord: setting(
    places,
    ['status'],
    'where it has the receipt word for the state; the first that is known counts',
  ),
  callbackError: setting(places, [], 'where it has the error'),
  callbackTo: setting(places, [], 'where it has the recipient; finds the message of a request that was never answered'),
  callbackSignature: setting(
    oneOf(['none', 'form-sha1', 'body-sha256']),
    'none',
    'how callbacks are signed with the password: form-sha1 (URL and sorted fields, HMAC-SHA1 in Base64), body-sha256 (HMAC-SHA256 of the body in hexadecimal digits); none: its address alone is the secret',
  ),
  callbackHeader: setting(
    matching('HEADER', 'the name of a header, in small letters', /^[a-z][a-z0-9-]{0,63}$/),
    'x-signature',
    'header with that signature',
  ),
};

export type HttpSettings = Values<typeof HTTP>;
