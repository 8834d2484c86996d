import type { Db } from 'mongodb';
import { z } from 'zod';
import { readBindReports } from '../../../shared/carriers/bind-report.ts';
import { CARRIER_DEFAULTS, type CarrierDocument, carrierLease } from '../../../shared/carriers/carrier.ts';
import { BadCarrier } from '../../../shared/carriers/carrier-form.ts';
import { CarrierExists, createCarrier, removeCarrier } from '../../../shared/carriers/carrier-store.ts';
import { listRoutes } from '../../../shared/carriers/routing/store.ts';
import { REQUIRED } from '../../../shared/carriers/settings/basics.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { CLAIM_HOLDER } from '../../../shared/messages/document/message.ts';
import { findUnfinished } from '../../../shared/messages/inbound.ts';
import { heldEpochs } from '../../../shared/platform/leases/lease.ts';
import { done, endpoint, invalid, refused } from '../../api/endpoint.ts';
import { named, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, matching, optional, required } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import {
  CarrierId,
  ChangedCarrier,
  carrierDetail,
  carrierName,
  carrierOf,
  IN_PATH,
  password,
  refusedSettings,
  settings,
} from './carriers.ts';
import { PRESETS } from './presets.ts';
import { CarrierSetting, readSettings, settingsForm } from './settings-form.ts';

export const carrierForm = endpoint({
  id: 'operatorCarrierForm',
  method: 'get',
  path: '/v2/admin/carrier-form',
  tag: 'Operators',
  summary: 'The form of a new carrier',
  description: 'Extension. Every setting with its default, and the presets: what the pages of known carriers ask for.',
  scopes: ['admin:read'],
  answer: named('OperatorCarrierForm', {
    settings: z.array(CarrierSetting),
    presets: z.array(
      z.strictObject({
        preset: text(undefined, { example: 'sinch' }),
        about: text(undefined, { example: 'window 10, two binds at most' }),
        source: text('The page that says so.', { example: 'https://developers.sinch.com/docs/sms/smpp/send-message' }),
        settings: z.record(z.string(), text()).meta({ example: { windowSize: '10' } }),
      }),
    ),
  }),
  handle: () => ({
    settings: settingsForm(),
    presets: Object.entries(PRESETS).map(([preset, one]) => ({ preset, ...one })),
  }),
});

export const preset = choice(
  Object.keys(PRESETS),
  'Settings that the pages of a known carrier ask for. Those of `settings` go before them.',
);

/** Adds a problem for each required setting that is neither given nor in the preset. */
export function requireSettings(
  given: Readonly<Record<string, unknown>>,
  problems: FieldProblems,
  preset: string | undefined,
): void {
  const known = preset === undefined ? {} : PRESETS[preset]?.settings;
  for (const name of Object.keys(REQUIRED)) {
    if (given[name] === undefined && known?.[name] === undefined)
      problems.add(`settings.${name}`, 'missing_field', 'It is required.');
  }
}

export const newCarrier = endpoint({
  id: 'createCarrier',
  method: 'post',
  path: '/v2/admin/carriers',
  tag: 'Operators',
  summary: 'Add a carrier',
  description:
    'Extension. The SMPP worker binds to it within seconds. `GET /v2/admin/carrier-form` lists the settings; `host`, `port` and `systemId` are required. `POST /v2/admin/carriers/test` tries the bind before.',
  scopes: ['admin:routing'],
  confirmed: true,
  body: request({
    carrier_id: required(matching('Its short name.', /^[a-z0-9-]{1,32}$/, '1 to 32 of a-z, 0-9 and -')),
    name: optional(carrierName),
    password: required(password),
    preset: optional(preset),
    settings: required(settings),
  }),
  ownProblems: true,
  answer: ChangedCarrier,
  problems: ['carrier_exists'],
  examples: {
    body: {
      example: {
        ...{ carrier_id: 'acme', name: 'Acme', password: 'secret', preset: 'sinch' },
        settings: { host: 'smpp.example.com', port: '2775', systemId: 'harkara' },
      },
    },
  },
  async handle(deps, { requester, body, read }) {
    const { db, clock, box } = deps;
    const { problems, given } = read;
    const chosen = readSettings(given.settings ?? {}, problems, given);
    if (given.settings !== undefined) requireSettings(given.settings, problems, given.preset);
    if (problems.count > 0) return invalid(problems);
    const { carrier_id: id, name = id, password } = body;
    const wanted = { ...CARRIER_DEFAULTS, ...chosen, _id: id, name, password } as CarrierDocument; // none required is missing
    try {
      await changeAudited(deps, requester, {
        action: 'carrier.create',
        subject: { kind: 'carrier', id },
        make: () => createCarrier(db, clock, box, wanted),
        madeOf: (made) => made,
        isRefusal: (error) => error instanceof BadCarrier || error instanceof CarrierExists,
      });
    } catch (error) {
      if (error instanceof CarrierExists) return refused('carrier_exists');
      return refusedSettings(error, problems);
    }
    const made = await carrierOf(db, id, clock.now());
    return made === undefined ? refused('carrier_not_found') : done({ carrier: await carrierDetail(db, made) });
  },
});

export const takeCarrier = endpoint({
  id: 'removeCarrier',
  method: 'delete',
  path: '/v2/admin/carriers/{carrier_id}',
  tag: 'Operators',
  summary: 'Remove a carrier',
  description:
    'Extension. It must be paused, in no route, and done with what it had. Receipts that it sends later find nobody: messages that wait for one keep their status.',
  scopes: ['admin:routing'],
  confirmed: true,
  params: IN_PATH,
  answer: success('RemovedCarrier', {
    carrier_id: CarrierId,
    message: text(undefined, { example: 'The carrier is removed.' }),
  }),
  problems: ['carrier_not_found', 'carrier_in_use'],
  async handle(deps, { requester, params }) {
    const { db, clock } = deps;
    const found = await carrierOf(db, params.carrier_id, clock.now());
    if (found === undefined) return refused('carrier_not_found');
    const { carrier } = found;
    const use = await useOf(db, carrier, clock.now());
    if (use !== undefined) return refused('carrier_in_use', { detail: use });
    const isRemoved = await changeAudited(deps, requester, {
      action: 'carrier.remove',
      subject: { kind: 'carrier', id: carrier._id },
      read: async () => carrier,
      make: () => removeCarrier(db, carrier._id),
      madeOf: (removed) => ({ removed }),
    });
    if (!isRemoved) return refused('carrier_in_use', { detail: NOT_PAUSED });
    return done({ carrier_id: carrier._id, message: 'The carrier is removed.' });
  },
});

const NOT_PAUSED = 'It is active. Pause it first; what is under way ends then.';

/** Why a carrier cannot be removed yet: only its worker can finish what it claimed, submitted or received. */
async function useOf(db: Db, { _id: id, status }: CarrierDocument, now: Date): Promise<string | undefined> {
  if (status !== 'paused') return NOT_PAUSED;
  const route = (await listRoutes(db)).find(({ groups }) => groups.flat().some((one) => one.carrier === id));
  if (route !== undefined) return `The route ${route._id} names it. Change the route first.`;
  const lease = carrierLease(id);
  const [epochs, reports] = await Promise.all([heldEpochs(db, [lease], now), readBindReports(db)]);
  const [epoch, report] = [epochs.get(lease), reports.get(id)];
  // A worker that has taken note of the pause has a new epoch and reports no binds.
  if (report !== undefined && (epoch === undefined || report.epoch === epoch)) {
    return 'No SMPP worker has taken note of the pause yet. Try again in some seconds; if that does not help, start the worker.';
  }
  const [claimed, submitting, received] = await Promise.all([
    db.collection('queue').findOne({ 'claims.carrier': id }, { projection: { _id: 1 } }),
    db.collection<AnyMessage>('messages').findOne({ [CLAIM_HOLDER]: id, state: 'submitting' }),
    findUnfinished(db, id, undefined, 1),
  ]);
  if (claimed === null && submitting === null && received.length === 0) return undefined;
  return 'What it was given, or what handsets wrote to it, is not finished. Try again later.';
}
