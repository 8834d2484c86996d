import type { Db } from 'mongodb';
import { providerCondition, troubleInWords, troublesOf } from '../../../shared/carriers/providers/condition.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import {
  findProvider,
  listProviderPage,
  listProviders,
  pauseProvider,
  resumeProvider,
} from '../../../shared/carriers/providers/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { choice, optional, required } from '../../http/fields/field.ts';
import { reason } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';

export const PROVIDER_STATUS = request({
  status: required(
    choice(
      ['active', 'paused'],
      '`paused`: sends are accepted and wait. `active` also starts a stopped channel again.',
    ),
  ),
  reason: optional(reason),
});

/** GET /v2/admin/providers (extension): the accounts' numbers on the chat-app channel, with what fails. */
export function createProviders({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'providers', isAccountId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await listProviderPage(db, after, limit + 1);
    const page = found.slice(0, limit);
    sendJson(res, pageOf('providers', page.map(providerRecord), found.length > limit ? page.at(-1)?._id : undefined));
  };
}

/** All of them, for what is wrong now. */
export async function readProviders(db: Db) {
  return (await listProviders(db)).map(providerRecord);
}

/** POST /v2/admin/providers/{account_id}/status (extension): pauses an account's chat-app channel, or starts it again. */
export function createProviderStatus(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(PROVIDER_STATUS, bodyOf(res), { account: {}, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { account_id: id } = req.params;
    const provider = typeof id === 'string' && isAccountId(id) ? await findProvider(db, id) : undefined;
    if (provider === undefined) return sendProblem(res, 'provider_not_found');
    const { status, reason } = whole(read);
    const account = provider._id;
    const shown = (one: ProviderDocument) => ({ status: one.status, stoppedReason: one.stoppedReason ?? null });
    const changed = await changeAudited(deps, requesterOf(res), {
      action: status === 'paused' ? 'provider.pause' : 'provider.resume',
      subject: { kind: 'provider', id: account },
      account,
      read: async () => shown(provider),
      make: async () => {
        await (status === 'paused' ? pauseProvider : resumeProvider)(db, account);
        return (await findProvider(db, account)) ?? provider;
      },
      madeOf: (one) => ({ ...shown(one), ...(reason === undefined ? {} : { reason }) }),
      isRefusal: () => false,
    });
    sendJson(res, { status: 'success', provider: providerRecord(changed) });
  };
}

/** Without the secrets, sealed or not. */
function providerRecord(one: ProviderDocument) {
  return {
    account_id: one._id,
    condition: providerCondition(one),
    stopped_reason: one.stoppedReason ?? null,
    troubles: troublesOf(one).map((trouble) => ({
      duty: trouble.duty,
      words: troubleInWords(trouble),
      at: isoTimestamp(trouble.at),
    })),
    number: one.displayNumber,
    base_url: one.baseUrl,
    phone_number_id: one.phoneNumberId,
    business_id: one.businessId,
    app_id: one.appId ?? null,
    per_second: one.perSecond,
    window_size: one.windowSize,
    opt_in: one.optIn,
    unknown_policy: one.unknownPolicy,
    created_at: isoTimestamp(one.createdAt),
  };
}
