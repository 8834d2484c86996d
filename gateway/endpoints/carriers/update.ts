import { BadCarrier } from '../../../shared/carriers/carrier-form.ts';
import { PasswordNeeded, updateCarrier } from '../../../shared/carriers/carrier-store.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, isObject, type JsonObject, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest, wrongType } from '../../http/field-problems.ts';
import { type Kind, optional } from '../../http/fields/field.ts';
import { line, matching } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { carrierInPath } from './find-carrier.ts';
import { readSettings } from './settings-form.ts';
import { carrierDetail } from './show.ts';

const settings: Kind<JsonObject> = {
  schema: {
    type: 'object',
    description: 'Settings by their names, each as one text: `{"windowSize": "50"}`. `GET` of the carrier lists them.',
  },
  read(value, name, { problems }) {
    if (isObject(value)) return value;
    return problems.add(name, 'wrong_type', `It must be an object, not ${wrongType(value)}.`);
  },
};

export const UPDATE_CARRIER = request({
  name: optional(line('Its name for people and in the status of messages.', 64)),
  password: optional(
    matching(
      'The password of the bind, a new one or the same. It is stored encrypted and never shown. A change of where it is sent needs it too: the settings with `needs_password`.',
      /^[\x20-\x7e]{0,64}$/,
      'at most 64 ASCII characters',
    ),
  ),
  settings: optional(settings),
});

/**
 * PATCH /v2/admin/carriers/{carrier_id} (extension): changes settings. The carrier's binds end gracefully and start again with the
 * new ones.
 */
export function createUpdateCarrier(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'box'>): Handler {
  const { db, clock, config, box } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(UPDATE_CARRIER, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems } = read;
    const changed = readSettings(read.given.settings ?? {}, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await carrierInPath(db, req, clock.now());
    if (found === undefined) return sendProblem(res, 'carrier_not_found');
    const { name, password } = whole(read);
    const changes = {
      ...changed,
      ...defined({ name, password }),
    };
    const { carrier } = found;
    try {
      await changeAudited(deps, requesterOf(res), {
        action: 'carrier.update',
        subject: { kind: 'carrier', id: carrier._id },
        read: async () => carrier,
        make: async () => (Object.keys(changes).length === 0 ? carrier : updateCarrier(db, box, carrier._id, changes)),
        madeOf: (made) => made,
        isRefusal: (error) => error instanceof BadCarrier || error instanceof PasswordNeeded,
      });
    } catch (error) {
      if (error instanceof PasswordNeeded) problems.add('password', 'missing_field', passwordWords(error.settings));
      else if (error instanceof BadCarrier) {
        for (const problem of error.problems) problems.add('settings', 'invalid_value', problem);
      } else throw error;
      return sendProblem(res, ...invalidRequest(problems));
    }
    const now = (await carrierInPath(db, req, clock.now())) ?? found;
    sendJson(res, { status: 'success', carrier: await carrierDetail(db, now) });
  };
}

function passwordWords(settings: readonly string[]): string {
  const names = settings.map((name) => `settings.${name}`).join(', ');
  return `A change of ${names} decides where the password is sent. Give the carrier's password in the same request.`;
}
