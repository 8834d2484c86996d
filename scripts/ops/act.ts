import type { Endpoint } from '../../gateway/api/endpoint.ts';
import { ENDPOINTS } from '../../gateway/endpoints/list.ts';
import type { ProblemAnswer } from '../../gateway/http/answer.ts';
import { type Field, type Schema, schemaOf } from '../../gateway/http/fields/field.ts';
import { requestSchema } from '../../gateway/http/fields/request.ts';
import { PROBLEMS, type ProblemSlug } from '../../gateway/http/problem.ts';
import { type LocalAnswer, operatorHere, runLocally } from '../../gateway/local.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { findAccount } from '../../shared/money/accounts/store.ts';
import type { AskedSecret } from '../../shared/platform/config/environment.ts';
import { type AccountId, isAccountId } from '../../shared/platform/runtime/ids.ts';
import { answerText } from './answer-text.ts';
import { operator } from './audited.ts';
import { type Answer, type Command, type Context, Failure, flag, type Parameter, UsageError } from './command.ts';
import { optionName } from './read-words.ts';

/**
 * An operator's command that runs an endpoint of the API in this process as "operator on this machine". Its options are
 * the fields of the endpoint's declaration with their descriptions; checks and audit are the endpoint's. An act only
 * says how it is called and how its answer is shown.
 */
export interface Act {
  /** Noun and verb: `carrier pause`. */
  readonly command: string;
  readonly operation: string;
  /** One line. Default: the endpoint's summary. */
  readonly about?: string;
  readonly notes?: string;
  /** Positional fields, path parameters and members of `more`, after the path parameters not named here. */
  readonly args?: readonly string[];
  /** Fields that the command sets itself. */
  readonly fixed?: Values;
  /** For fields that the endpoint requires, or whose absence means something else there. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Option names of fields, where they differ: `{events: 'event'}`. */
  readonly names?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, AskedSecret>>;
  /** Options that are not fields; `prepare` turns them into the request. */
  readonly more?: Readonly<Record<string, Parameter<unknown>>>;
  prepare?(asked: Request, given: Values, context: Context): Request | Promise<Request>;
  /** The account that the endpoint belongs to. Default: the first argument. */
  account?(given: Values, context: Context): Promise<AccountId | undefined>;
  /** Columns of a list, in order. Default: all plain members of an entry. */
  readonly columns?: readonly string[];
  /** The text to show. Default: the answer's members. */
  say?(told: Told, given: Values, context: Context): string | Promise<string>;
  /** Shows one page; `--json` has `next_cursor`. Other lists show all entries up to `--limit` (500). */
  readonly isPaged?: true;
  /** Additional members for `--json`. */
  json?(told: Told): object;
  /** Whether the answer means success. Default: yes. */
  isDone?(told: Told): boolean;
}

export type Values = Readonly<Record<string, unknown>>;
// biome-ignore lint/suspicious/noExplicitAny: the commands of one table have the answers of all endpoints
export type Told = any;

export interface Request {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Values;
  readonly idempotencyKey?: string;
}

function endpointOf(operation: string): Endpoint {
  const found = ENDPOINTS.find(({ id }) => id === operation);
  if (found === undefined) throw new Error(`there is no endpoint ${operation}`);
  return found;
}

/** Endpoints of an account's owner need the account named. */
function isOfAccount({ path }: Endpoint): boolean {
  return !path.startsWith('/v2/admin/');
}

const LIMIT = '500';

export function commandOf(act: Act): Command {
  const [noun = '', verb = ''] = act.command.split(' ');
  const one = endpointOf(act.operation);
  const parts = [...one.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const byPlace = [...parts.filter((name) => !act.args?.includes(name)), ...(act.args ?? [])].filter(
    (name) => !(name in (act.fixed ?? {})),
  );
  const isOwners = isOfAccount(one) && act.account === undefined;
  const names = [...(isOwners ? ['account'] : []), ...byPlace];
  const fields: Readonly<Record<string, Field<unknown>>> = { ...one.query, ...one.body?.fields };
  const needed = new Set(one.body === undefined ? [] : requestSchema(one.body).required);
  const parameter = (name: string, must: boolean): Parameter<unknown> => {
    const own = act.more?.[name];
    if (own !== undefined) return own;
    const part = one.params?.[name];
    if (part !== undefined) return parameterOf(name, schemaOf(part), true);
    if (name === 'account') return ACCOUNT;
    const field = fields[name];
    if (field === undefined) throw new Error(`${act.command}: ${act.operation} has no field ${name}`);
    return parameterOf(name, schemaOf(field), must, act.defaults?.[name]);
  };
  const { fixed = {}, secrets = {}, defaults = {} } = act;
  const optional = Object.keys(fields).filter(
    (name) => !names.includes(name) && !(name in fixed) && !(name in secrets),
  );
  const options = Object.fromEntries([
    ...optional.map((name) => [act.names?.[name] ?? name, parameter(name, needed.has(name) && !(name in defaults))]),
    ...Object.keys(secrets).flatMap(secretOptions),
    ...Object.entries(act.more ?? {}).filter(([name]) => !names.includes(name)),
  ]);
  return {
    ...{ noun, verb, options, isEndpoint: true },
    about: act.about ?? one.summary,
    ...(act.notes !== undefined && { notes: act.notes }),
    args: Object.fromEntries(names.map((name) => [name, parameter(name, true)])),
    run: (values, context) => run(act, one, fields, values, context),
  };
}

const ACCOUNT: Parameter<unknown> = {
  ...{ value: 'ACCOUNT', about: 'the account', form: 'an account id like acc_01kam…, as `account list` shows it' },
  required: true,
  read: (text) => (text !== undefined && isAccountId(text) ? { value: text } : undefined),
};

function secretOptions(name: string): [string, Parameter<unknown>][] {
  return [
    [name, flag(`change the ${name.replaceAll('_', ' ')}`)],
    [`${name}_stdin`, flag(`change the ${name.replaceAll('_', ' ')}, to what is on stdin`)],
  ];
}

/** A field as an argument or option. The endpoint checks its value. */
function parameterOf(name: string, schema: Schema, required: boolean, preset?: string): Parameter<unknown> {
  const { description = '', enum: choices, type, default: own } = schema;
  const standard = preset ?? (name === 'limit' ? LIMIT : typeof own === 'object' ? undefined : own);
  const about = description.split(/(?<=\.) |\.$/)[0]?.replace(/\.$/, '') ?? '';
  const isSwitch = type === 'boolean';
  const few = choices !== undefined && choices.length <= 5 ? choices.join('|') : '';
  return {
    value: isSwitch ? '' : few || (name.split('_').at(-1) ?? '').toUpperCase(),
    form: formOf(schema),
    about: about === '' ? name.replaceAll('_', ' ') : about,
    required,
    ...(standard !== undefined && standard !== '' && { standard: String(standard) }),
    read(text) {
      const given = text ?? preset ?? (name === 'limit' ? LIMIT : undefined);
      if (given === undefined) return required ? undefined : { value: undefined };
      return isSwitch ? { value: true } : boxed(jsonOf(given, schema));
    },
  };
}

function boxed(value: unknown): { readonly value: unknown } | undefined {
  return value === undefined ? undefined : { value };
}

/** The JSON value of typed text; undefined if it has the wrong form. */
function jsonOf(text: string, { type, items }: Schema): unknown {
  if (type === 'string' || type === undefined) return text;
  if (type === 'array' && items?.type === 'string')
    return text === 'none' || text === 'any' ? [] : text.split(',').map((one) => one.trim());
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formOf({ enum: choices, type, items, minimum, maximum }: Schema): string {
  if (choices !== undefined) return choices.join(' or ');
  if (type === 'integer' || type === 'number') {
    const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
    return `a ${type === 'integer' ? 'whole number' : 'number'}${range}`;
  }
  if (type === 'boolean') return 'alone';
  if (type !== 'array') return type === 'object' ? 'JSON' : 'text';
  return items?.enum === undefined ? 'several with commas, or none' : `some of ${items.enum.join(', ')} (with commas)`;
}

async function run(
  act: Act,
  one: Endpoint,
  fields: Readonly<Record<string, unknown>>,
  values: Values,
  context: Context,
): Promise<Answer> {
  const { secrets = {} } = act;
  const account = isOfAccount(one) ? await accountFor(act, values, context) : undefined;
  let asked = requestOf(act, one, fields, values);
  for (const name of Object.keys(secrets)) {
    if (values[name] || values[`${name}_stdin`]) asked = await withSecret(act, name, asked, values, context);
  }
  asked = (await act.prepare?.(asked, values, context)) ?? asked;
  let answer = await ask(context, one, asked, account);
  for (const name of missingSecrets(secrets, answer)) {
    asked = await withSecret(act, name, asked, values, context);
    answer = await ask(context, one, asked, account);
  }
  if (answer.kind === 'refused') throw refusalOf(act, one, answer.problem);
  if (answer.kind === 'file') return { text: answer.text, json: answer.text };
  const told: Told = answer.isReplayed ? { ...answer.body, replayed: true } : answer.body;
  const text = await (act.say?.(told, values, context) ?? answerText(told, act));
  return { text, json: jsonOfAnswer(act, told, values), ok: act.isDone?.(told) ?? true };
}

/**
 * An answer for programs: the entries of a list, or the record that the answer wraps. The argument is added under its
 * own name (`account`, `carrier`, `webhook`); for a credit or a sender as `id`.
 */
function jsonOfAnswer(act: Act, told: Told, values: Values): unknown {
  const { status: _, next_cursor, has_more, ...rest } = told;
  const [only, ...others] = Object.values(rest);
  if (Array.isArray(only) && others.length === 0 && act.isPaged !== true) return only.map((entry) => named(entry, {}));
  const wrapped = WRAPPED.map((name) => told[name]).find((value) => typeof value === 'object' && value !== null);
  const record = wrapped === undefined ? told : { ...told, ...wrapped.settings, ...wrapped };
  return { ...named(record, values), ...act.json?.(told) };
}

const WRAPPED = ['account', 'carrier', 'route', 'number', 'provider'];
const SHORT = {
  account_id: 'account',
  carrier_id: 'carrier',
  webhook_id: 'webhook',
  credit_id: 'id',
  sender_id: 'id',
  key_id: 'id',
  user_id: 'id',
};

function named(record: Told, values: Values): Told {
  if (typeof record !== 'object' || record === null) return record;
  const short = Object.entries(SHORT).flatMap(([long, name]) => {
    const value = record[long] ?? values[long] ?? (long === 'account_id' ? values.account : undefined);
    return value === undefined || value === null ? [] : [[name, value]];
  });
  return { ...record, ...Object.fromEntries(short) };
}

async function ask(context: Context, one: Endpoint, asked: Request, account?: AccountDocument): Promise<LocalAnswer> {
  const { id, address } = operator();
  return runLocally(one, await context.gateway(), { requester: operatorHere(id, address, account), ...asked });
}

/** Calls another endpoint, as the account's owner if it is the account's. Throws as a command does. */
export async function perform(
  context: Context,
  operation: string,
  asked: Partial<Request> = {},
  account?: AccountDocument,
): Promise<Told> {
  const one = endpointOf(operation);
  const answer = await ask(context, one, { params: {}, query: {}, body: {}, ...asked }, account);
  if (answer.kind === 'answered') return answer.body;
  throw answer.kind === 'file'
    ? new Error(`${operation} answers a file`)
    : refusalOf({ command: '', operation }, one, answer.problem);
}

async function accountFor(act: Act, values: Values, context: Context) {
  const id = act.account === undefined ? (values.account as AccountId) : await act.account(values, context); // as ACCOUNT read it
  const found = id === undefined ? undefined : await findAccount(await context.db(), id);
  if (found === undefined) throw new Failure(`There is no account ${id ?? 'of it'}: \`account list\` shows them.`);
  return found;
}

/** Places each value where the endpoint expects it. */
function requestOf(act: Act, one: Endpoint, fields: Readonly<Record<string, unknown>>, values: Values): Request {
  const given: Record<string, unknown> = { ...act.fixed };
  for (const name of [...Object.keys(one.params ?? {}), ...Object.keys(fields)]) {
    const value = values[act.names?.[name] ?? name];
    if (value !== undefined && !(name in (act.secrets ?? {}))) given[name] = value;
  }
  const only = (names: object | undefined) =>
    Object.entries(given).filter(([name]) => names !== undefined && name in names);
  const texts = (names: object | undefined): Record<string, string> =>
    Object.fromEntries(only(names).map(([name, value]) => [name, String(value)]));
  return { params: texts(one.params), query: texts(one.query), body: Object.fromEntries(only(one.body?.fields)) };
}

async function withSecret(act: Act, name: string, asked: Request, values: Values, context: Context): Promise<Request> {
  const variable = act.secrets?.[name];
  if (variable === undefined) return asked;
  const secret = await context.secret(variable, values[`${name}_stdin`] === true);
  return { ...asked, body: { ...asked.body, [name]: secret } };
}

/** Secrets that the endpoint required although none were given. */
function missingSecrets(secrets: object, answer: LocalAnswer): readonly string[] {
  if (answer.kind !== 'refused') return [];
  const missing = (answer.problem[1].errors ?? []).filter(({ code }) => code === 'missing_field');
  return missing.map(({ field }) => field).filter((field) => field in secrets);
}

function refusalOf(act: Act, one: Endpoint, [slug, more]: readonly [ProblemSlug, ProblemAnswer]): Error {
  const { errors = [], detail } = more;
  if (errors.length === 0) return new Failure(`Not done: ${inWords(detail ?? PROBLEMS[slug].advice)}`);
  const lines = errors.map(({ field, detail }) => `${labelOf(act, one, field)}: ${inWords(detail)}`);
  return slug === 'invalid_request' ? new UsageError(lines.join('\n')) : new Failure(lines.join('\n'));
}

/** The option for an error's field, such as `settings.windowSize` or `events[1]`. */
function labelOf(act: Act, one: Endpoint, field: string): string {
  const [name = ''] = field.replace(/^(settings|matches)\./, '').split(/[.[]/);
  return act.args?.includes(name) || name in (one.params ?? {})
    ? `<${name}>`
    : `--${optionName(act.names?.[name] ?? name)}`;
}

/** Generated commands for operators' endpoints that have none in the list: `admin operator-queues`. */
export function unnamedActs(acts: readonly Act[]): readonly Act[] {
  const named = new Set(acts.map(({ operation }) => operation));
  return ENDPOINTS.filter(
    (one) => !isOfAccount(one) && !named.has(one.id) && (one.handle ?? one.action) !== undefined,
  ).map(({ id }) => ({ command: `admin ${optionName(id)}`, operation: id }));
}

/** For replacing API requests in texts by their commands. */
let commandsByRequest: ReadonlyMap<string, string> = new Map();

export function nameRequests(acts: readonly Act[]): void {
  commandsByRequest = new Map(
    acts.map(({ command, operation }) => {
      const { method, path } = endpointOf(operation);
      return [`${method.toUpperCase()} ${path}`, command];
    }),
  );
}

function inWords(text: string): string {
  return text.replaceAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/v2\/[^`]+)`/g, (all, request: string) => {
    const command = commandsByRequest.get(request);
    return command === undefined ? all : `\`${command}\``;
  });
}
