import { z } from 'zod';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { checkCarrier } from '../../../shared/carriers/carrier-form.ts';
import { openedPassword, openedTrust } from '../../../shared/carriers/carrier-secrets.ts';
import { checkedChanges } from '../../../shared/carriers/carrier-store.ts';
import { connectionStep } from '../../../shared/carriers/http/connection.ts';
import { bindStep, Trial } from '../../../shared/carriers/smpp/trial.ts';
import { endpoint, type Gateway, invalid, refused } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { matching, optional } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { carrierOf, password, refusedSettings, settings } from './carriers.ts';
import { preset, requireSettings } from './new-carrier.ts';
import { readSettings } from './settings-form.ts';

const fields = {
  carrier_id: optional(
    matching(
      'A carrier that is there: what is left out is as stored.',
      /^[a-z0-9-]{1,32}$/,
      '1 to 32 of a-z, 0-9 and -',
    ),
  ),
  password: optional(password),
  preset: optional(preset),
  settings: optional(settings),
};

export const testBind = endpoint({
  id: 'testCarrierBind',
  method: 'post',
  path: '/v2/admin/carriers/test',
  tag: 'Operators',
  summary: 'Test the bind of a carrier',
  description:
    "Extension. Binds with settings that are not saved yet, from the gateway's machine, and unbinds. For a carrier of the kind `http` it makes a connection, TLS included, and asks nothing. Sends no message. Nothing is changed; the password that is stored goes only where the stored settings lead.",
  scopes: ['admin:routing'],
  confirmed: true,
  costs: 10,
  body: request(fields),
  ownProblems: true,
  answer: named('BindTest', {
    ok: flag('The carrier accepted the bind, or the connection.', true),
    words: text(undefined, { example: 'bind: accepted' }),
    pdus: z.array(text()).meta({
      description: 'What was sent and received, with times. The password is left out.',
      example: ['   0.004 s  → bind_transceiver #1 system_id="harkara" password=(not shown)'],
    }),
  }),
  problems: ['carrier_not_found'],
  examples: {
    body: {
      example: {
        ...{ password: 'secret', preset: 'sinch' },
        settings: { host: 'smpp.example.com', port: '2775', systemId: 'harkara' },
      },
    },
  },
  async handle(deps, { requester, read: { given, problems } }) {
    const found = await toTest(deps, given, problems);
    if ('problem' in found) return found;
    const { carrier, password, isBeside } = found;
    const pdus: string[] = [];
    const { clock } = deps;
    const say = (line: string) => void pdus.push(line);
    const trial = new Trial({ carrier, password, clock, say, isOurs: () => false });
    const tryIt = () => (carrier.kind === 'http' ? connectionStep(carrier) : bindStep(trial, carrier, isBeside));
    const step = await changeAudited(deps, requester, {
      action: 'carrier.test',
      subject: { kind: 'carrier', id: given.carrier_id ?? `${carrier.host}:${carrier.port}` },
      make: () => tryIt().finally(() => trial.end()),
      madeOf: ({ ok, words }) => ({ ok, words }),
    });
    return { ...step, pdus };
  },
});

interface ToTest {
  readonly carrier: CarrierDocument;
  readonly password: string;
  /** A worker is bound to the carrier at the same time. */
  readonly isBeside: boolean;
}

async function toTest(
  { db, clock, box }: Gateway,
  given: {
    readonly carrier_id?: string;
    readonly password?: string;
    readonly preset?: string;
    readonly settings?: Readonly<Record<string, unknown>>;
  },
  problems: FieldProblems,
): Promise<ToTest | Refused> {
  const { carrier_id: id, settings: texts = {} } = given;
  const stored = id === undefined ? undefined : await carrierOf(db, id, clock.now());
  if (id !== undefined && stored === undefined) return refused('carrier_not_found');
  const changes = readSettings(texts, problems, { preset: given.preset, stored: stored?.carrier });
  if (stored === undefined) {
    requireSettings(texts, problems, given.preset);
    if (given.password === undefined) problems.add('password', 'missing_field', 'It is required.');
  }
  if (problems.count > 0) return invalid(problems);
  const password = given.password ?? '';
  try {
    if (stored !== undefined) {
      const { carrier, condition } = stored;
      const changed = given.password === undefined ? changes : { ...changes, password };
      const tested = { ...carrier, ...openedTrust(box, carrier), ...checkedChanges(box, carrier, changed) };
      const isBeside = condition === 'bound' || condition === 'partly_bound';
      return { carrier: tested, password: given.password ?? openedPassword(box, carrier), isBeside };
    }
    const wanted = { ...CARRIER_DEFAULTS, ...changes, _id: 'test', name: 'test', password, createdAt: clock.now() };
    const carrier = wanted as CarrierDocument; // none required is missing
    checkCarrier(carrier);
    return { carrier, password, isBeside: false };
  } catch (error) {
    return refusedSettings(error, problems);
  }
}
