import type { Db } from 'mongodb';
import { z } from 'zod';
import type { BindReport, BindTrouble, CarrierMeasured } from '../../../shared/carriers/bind-report.ts';
import { callbackPath } from '../../../shared/carriers/carrier.ts';
import { type ListedCarrier, listConditions, troubleWords } from '../../../shared/carriers/carrier-condition.ts';
import { BadCarrier, MAX_PASSWORD } from '../../../shared/carriers/carrier-form.ts';
import { PasswordNeeded, setCarrierStatus, updateCarrier } from '../../../shared/carriers/carrier-store.ts';
import { countUnknowns } from '../../../shared/messages/settlement/unknowns.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { done, endpoint, invalid, refused, type Shown } from '../../api/endpoint.ts';
import { decimal, flag, named, success, text, time, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { isObject, type JsonObject } from '../../http/context.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, matching, optional, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { line, reason } from '../operators/fields.ts';
import { CarrierSetting, readSettings, settingsForm } from './settings-form.ts';

export const CarrierId = text(undefined, { example: 'airtel' });
export const IN_PATH = { carrier_id: CarrierId.describe('The carrier.') };
const WORDS = 'bind refused: wrong password (0x0E) since 2026-11-22T14:02:00.000Z';

const TROUBLES = ['refused', 'unanswered', 'unreachable', 'lost'] as const satisfies readonly BindTrouble['kind'][];
const Trouble = z.strictObject({
  kind: z.enum(TROUBLES),
  code: text(undefined, { example: '0x0E' }),
  reason: text(undefined, { example: 'wrong password' }),
  since: time(undefined, '2026-11-22T14:02:00+00:00'),
  words: text(undefined, { example: WORDS }),
});

const OperatorBind = named('OperatorBind', 'A bind of a carrier, as its worker reported it last.', {
  index: whole(),
  state: z.enum(['closed', 'connecting', 'binding', 'bound', 'draining', 'backoff']).meta({ example: 'backoff' }),
  since: time(undefined, '2026-11-22T14:02:00+00:00'),
  window_used: whole('Submits that wait for their answer.', { example: 0 }).nullable(),
  trouble: Trouble.nullable(),
  last_trouble: Trouble.nullable().meta({ example: null }),
});

const Measured = z.strictObject({
  since: time(undefined, '2026-11-22T09:00:00+00:00'),
  per_second: decimal('Segments a second that it takes now. Null: no limit.', { example: 50 }).nullable(),
  answer_ms: z
    .strictObject({ p50: decimal(undefined, { example: 12 }), p99: decimal(undefined, { example: 80 }) })
    .nullable(),
  answers: z
    .record(z.string(), whole())
    .meta({ description: 'Answers to submits, by class.', example: { accepted: 1200 } }),
  throttled: whole(),
  receipts: z.record(z.string(), whole()).meta({ example: { delivered: 1100 } }),
  last_refusal: z.strictObject({ code: text(), reason: text(), at: time() }).nullable(),
});

const OperatorCarrier = named('OperatorCarrier', 'A carrier, as lists show it.', {
  carrier_id: CarrierId,
  name: text(undefined, { example: 'Airtel' }),
  status: z.enum(['active', 'paused']),
  kind: z.enum(['smpp', 'http']).meta({ description: 'How it is reached.' }),
  callback: text('Of kind `http`: where it posts its receipts to, on this gateway.', {
    example: '/carriers/callback/cbk_01m7znjn7hdb5pft3awkb6pgvz',
  }).nullable(),
  host: text(undefined, { example: 'smpp.example.com' }),
  port: whole(undefined, { example: 2775 }),
  tls: flag(),
  system_id: text(undefined, { example: 'harkara' }),
  paths: z.array(text()).meta({ example: ['transactional'] }),
  window_size: whole(undefined, { example: 50 }),
  per_second: whole('0: no limit.', { example: 50 }),
  condition: z.enum(['paused', 'unheld', 'binding', 'bound', 'partly_bound', ...TROUBLES]).meta({ example: 'refused' }),
  words: text('Its state in one line.', { example: WORDS }),
  binds: z.array(OperatorBind),
  measured: Measured.nullable(),
  unknowns: whole('Submits that were never answered; 1000 means at least so many.'),
});

const OperatorCarrierDetail = named('OperatorCarrierDetail', {
  ...OperatorCarrier.shape,
  settings: z.array(CarrierSetting),
});

export const listCarriers = endpoint({
  id: 'operatorCarriers',
  method: 'get',
  path: '/v2/admin/carriers',
  tag: 'Operators',
  summary: 'Carriers and their binds',
  description: 'Extension. As their holders report them, with the reason in words when one is not bound.',
  scopes: ['admin:read'],
  answer: named('OperatorCarriers', { carriers: z.array(OperatorCarrier) }),
  async handle({ db, clock }) {
    return { carriers: await readCarriers(db, clock.now()) };
  },
});

export async function readCarriers(db: Db, now: Date): Promise<readonly Shown<typeof OperatorCarrier>[]> {
  return Promise.all((await listConditions(db, now)).map((one) => carrierRecord(db, one)));
}

export const showCarrier = endpoint({
  id: 'operatorCarrier',
  method: 'get',
  path: '/v2/admin/carriers/{carrier_id}',
  tag: 'Operators',
  summary: 'One carrier',
  description: 'Extension. With its settings as a form: each value is one text. Secrets are never shown.',
  scopes: ['admin:read'],
  params: IN_PATH,
  answer: OperatorCarrierDetail,
  problems: ['carrier_not_found'],
  async handle({ db, clock }, { params }) {
    const found = await carrierOf(db, params.carrier_id, clock.now());
    return found === undefined ? refused('carrier_not_found') : carrierDetail(db, found);
  },
});

/** There are tens of carriers, so all are read. */
export async function carrierOf(db: Db, id: string, now: Date): Promise<ListedCarrier | undefined> {
  return (await listConditions(db, now)).find(({ carrier }) => carrier._id === id);
}

export const settings = z.custom<JsonObject>(isObject, 'It must be an object').meta({
  type: 'object',
  description: 'Settings by their names, each as one text: `{"windowSize": "50"}`. `GET` of the carrier lists them.',
});

export const carrierName = line('Its name for people and in the status of messages.', 64);

export const password = matching(
  'The password of the bind (or of its HTTP API), a new one or the same. It is stored encrypted and never shown. A change of where it is sent needs it too: the settings with `needs_password`.',
  new RegExp(`^[\\x20-\\x7e]{0,${MAX_PASSWORD}}$`),
  `at most ${MAX_PASSWORD} ASCII characters`,
);

export const ChangedCarrier = success('OperatorCarrierResult', { carrier: OperatorCarrierDetail });

export const changeCarrier = endpoint({
  id: 'updateCarrier',
  method: 'patch',
  path: '/v2/admin/carriers/{carrier_id}',
  tag: 'Operators',
  summary: 'Change a carrier',
  description: 'Extension. Its binds end gracefully and start again with the new settings.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: IN_PATH,
  body: request({
    name: optional(carrierName),
    password: optional(password),
    settings: optional(settings),
  }),
  ownProblems: true,
  answer: ChangedCarrier,
  problems: ['carrier_not_found'],
  examples: { body: { example: { settings: { windowSize: '20' } } } },
  async handle(deps, call) {
    const { db, clock, box } = deps;
    const { problems, given } = call.read;
    const found = await carrierOf(db, call.params.carrier_id, clock.now());
    const changed = readSettings(given.settings ?? {}, problems, { stored: found?.carrier });
    if (problems.count > 0) return invalid(problems);
    if (found === undefined) return refused('carrier_not_found');
    const { name, password } = call.body;
    const changes = { ...changed, ...defined({ name, password }) };
    const { carrier } = found;
    try {
      await changeAudited(deps, call.requester, {
        action: 'carrier.update',
        subject: { kind: 'carrier', id: carrier._id },
        read: async () => carrier,
        make: async () => (Object.keys(changes).length === 0 ? carrier : updateCarrier(db, box, carrier._id, changes)),
        madeOf: (made) => made,
        isRefusal: (error) => error instanceof BadCarrier || error instanceof PasswordNeeded,
      });
    } catch (error) {
      return refusedSettings(error, problems);
    }
    const now = (await carrierOf(db, carrier._id, clock.now())) ?? found;
    return done({ carrier: await carrierDetail(db, now) });
  },
});

/** The answer when settings contradict each other or need the password. Throws other errors on. */
export function refusedSettings(error: unknown, problems: FieldProblems): Refused {
  if (error instanceof PasswordNeeded) problems.add('password', 'missing_field', passwordWords(error.settings));
  else if (error instanceof BadCarrier) {
    for (const problem of error.problems) problems.add('settings', 'invalid_value', problem);
  } else throw error;
  return invalid(problems);
}

function passwordWords(settings: readonly string[]): string {
  const names = settings.map((name) => `settings.${name}`).join(', ');
  return `A change of ${names} decides where the password is sent. Give the carrier's password in the same request.`;
}

export const changeCarrierStatus = endpoint({
  id: 'setCarrierStatus',
  method: 'post',
  path: '/v2/admin/carriers/{carrier_id}/status',
  tag: 'Operators',
  summary: 'Pause or resume a carrier',
  description: 'Extension. A paused carrier ends its binds; what waits for it waits, or goes by another carrier.',
  scopes: ['admin:routing'],
  params: IN_PATH,
  body: request({
    status: required(
      choice(
        ['active', 'paused'],
        '`paused`: its binds end; what waits for it waits, or goes by another carrier of its paths.',
      ),
    ),
    reason: optional(reason),
  }),
  answer: ChangedCarrier,
  problems: ['carrier_not_found'],
  examples: { body: { example: { status: 'paused', reason: 'Their maintenance until 18:00' } } },
  async handle(deps, { requester, params, body: { status, reason } }) {
    const { db, clock } = deps;
    const found = await carrierOf(db, params.carrier_id, clock.now());
    if (found === undefined) return refused('carrier_not_found');
    const { carrier } = found;
    await changeAudited(deps, requester, {
      action: status === 'paused' ? 'carrier.pause' : 'carrier.resume',
      subject: { kind: 'carrier', id: carrier._id },
      read: async () => ({ status: carrier.status }),
      make: () => setCarrierStatus(db, carrier._id, status),
      madeOf: () => ({ status, ...(status !== carrier.status && reason !== undefined && { reason }) }),
    });
    const now = (await carrierOf(db, carrier._id, clock.now())) ?? found;
    return done({ carrier: await carrierDetail(db, now) });
  },
});

export async function carrierDetail(db: Db, found: ListedCarrier): Promise<Shown<typeof OperatorCarrierDetail>> {
  return { ...(await carrierRecord(db, found)), settings: settingsForm(found.carrier) };
}

async function carrierRecord(
  db: Db,
  { carrier, condition, words, binds, measured }: ListedCarrier,
): Promise<Shown<typeof OperatorCarrier>> {
  return {
    carrier_id: carrier._id,
    name: carrier.name,
    status: carrier.status,
    kind: carrier.kind ?? 'smpp',
    callback: callbackPath(carrier) ?? null,
    host: carrier.host,
    port: carrier.port,
    tls: carrier.tls,
    system_id: carrier.systemId,
    paths: carrier.paths,
    window_size: carrier.windowSize,
    per_second: carrier.perSecond,
    condition,
    words,
    binds: binds.map((bind) => bindRecord(bind, measured)),
    measured: measured === undefined ? null : measuredRecord(measured),
    unknowns: (await countUnknowns(db, carrier._id, UNKNOWNS_SHOWN)).count,
  };
}

function bindRecord(
  { index, state, since, trouble, lastTrouble }: BindReport,
  measured: CarrierMeasured | undefined,
): Shown<typeof OperatorBind> {
  return {
    index,
    state,
    since: isoTimestamp(since),
    window_used: measured?.unanswered[index] ?? null,
    trouble: trouble === undefined ? null : troubleRecord(trouble),
    last_trouble: lastTrouble === undefined ? null : troubleRecord(lastTrouble),
  };
}

function troubleRecord(trouble: BindTrouble & { readonly since: Date }): Shown<typeof Trouble> {
  const { kind, code, reason, since } = trouble;
  return { kind, code, reason, since: isoTimestamp(since), words: troubleWords(trouble) };
}

function measuredRecord(measured: CarrierMeasured): Shown<typeof Measured> {
  const { since, perSecond, answerMs, answers, receipts, lastRefusal: last } = measured;
  return {
    since: isoTimestamp(since),
    per_second: perSecond ?? null,
    answer_ms: answerMs ?? null,
    answers,
    throttled: answers.throttled ?? 0,
    receipts,
    last_refusal: last === undefined ? null : { code: last.code, reason: last.reason, at: isoTimestamp(last.at) },
  };
}

/** A higher count is told as "more than": nobody acts differently. */
const UNKNOWNS_SHOWN = 1_000;
