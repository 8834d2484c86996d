import { completionFor } from '../../../shared/carriers/numbers/completion.ts';
import { type OptOutDocument, type OptOutPlace, WHOLE_ACCOUNT } from '../../../shared/carriers/opt-outs/opt-out.ts';
import {
  changeOptOuts,
  findOptOut,
  findOptOutOf,
  hasOptOutDocument,
  isOptOutPlace,
  listOptOuts,
  optOutPlace,
} from '../../../shared/carriers/opt-outs/store.ts';
import { recipientProblem } from '../../../shared/messages/document/recipient.ts';
import { numberProblem } from '../../../shared/money/accounts/number-check.ts';
import { QUOTAS, QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { countOptOut } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isOptOutId, newId, type OptOutId, optOutId, type RequestId } from '../../../shared/platform/runtime/ids.ts';
import { maskNumber } from '../../../shared/platform/runtime/log.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { RETRY_AFTER, sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { Fault, optional, required, string } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { quotaProblem, quotaReached } from '../../http/quota-problem.ts';

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 250;
const NUMBER = /^\d{3,15}$/;
/** A whole number, or one as inside a country. */
const CUSTOMER = /^0?[1-9][0-9]{6,14}$/;

export const ADD_OPT_OUT = request({
  customer: required(
    string(
      {
        description:
          'The customer: digits, country code first. A number as inside your country (or that of `number`) is completed: 9876543210 becomes 919876543210.',
        pattern: CUSTOMER.source,
      },
      (text) =>
        CUSTOMER.test(text) ? text : new Fault('invalid_phone', recipientProblem(text) ?? 'It must be 7 to 15 digits.'),
    ),
  ),
  number: optional(
    string(
      {
        description: 'Your number that the customer wants no SMS of. Without it: no SMS of the whole account.',
        pattern: NUMBER.source,
      },
      (text) =>
        NUMBER.test(text) ? text : new Fault('invalid_value', 'It must be 3 to 15 digits, country code first.'),
    ),
  ),
});

/** GET /v2/account/opt-outs (extension): who has opted out, by the customers' numbers. */
export function createOptOuts({ db, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { customer, number, ...query } = parseQuery(req, ['customer', 'number', 'limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor<OptOutPlace>(query.cursor, 'opt_outs', isOptOutPlace, problems);
    for (const [name, text] of Object.entries({ customer, number })) {
      if (text !== undefined && !NUMBER.test(text)) problems.add(name, 'invalid_value', 'It must be 3 to 15 digits.');
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));

    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const completed = customer === undefined ? undefined : (await completionFor(db, account))(customer, number);
      const found = await listOptOuts(db, account, { customer: completed, scope: number }, after, limit + 1);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return pageOf('opt_outs', page.map(optOutRecord), last && optOutPlace(last));
    });
  };
}

/**
 * POST /v2/account/opt-outs (extension): the customer gets no messages from now on. An entry that exists already is not changed.
 */
export function createAddOptOut({
  db,
  clock,
  config,
}: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Action<RequestId> {
  return {
    name: 'add-opt-out',
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id: request, payBy }) {
      const { account: caller } = callerOf(res);
      const read = await readRequest(ADD_OPT_OUT, bodyOf(res), { account: caller, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { customer: written, number: scope = WHOLE_ACCOUNT } = whole(read);
      const account = caller._id;
      const customer = (await completionFor(db, account))(written, scope);
      const form = recipientProblem(customer);
      const problem =
        form === undefined ? numberProblem(customer, caller) : ({ code: 'invalid_phone', detail: form } as const);
      if (problem !== undefined) {
        const problems = new FieldProblems();
        problems.add('customer', problem.code, problem.detail);
        return { kind: 'refused', problem: invalidRequest(problems) };
      }
      const id = optOutId(account, customer, scope);
      const stored = await changeAudited({ db, clock, config }, callerOf(res), {
        ...audited('opt-out.add', id, () => findOptOut(db, account, id)),
        make: async () => {
          // The document of a customer stays for ever, so only the first wish about one counts.
          const isNew = !(await hasOptOutDocument(db, id));
          if (isNew && !(await countOptOut(db, account, QUOTAS.opt_outs))) throw new QuotaReached('opt_outs');
          await changeOptOuts(db, [{ account, customer, scope, kind: 'out', at: clock.now(), source: 'api', request }]);
          return findOptOut(db, account, id);
        },
        madeOf: auditedState,
        isRefusal: (error) => error instanceof QuotaReached,
      }).catch(quotaReached);
      if (stored instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(stored) };
      // The customer wrote START between the change and the read. A repeated request decides anew.
      if (stored === undefined) return { kind: 'refused', problem: ['store_unavailable', { headers: RETRY_AFTER }] };
      return added(stored);
    },
    /** A request that changed nothing, because the customer had opted out before, is simply done again. */
    async recover(account, id) {
      const stored = await findOptOutOf(db, account, id);
      return stored && added(stored);
    },
  };
}

function added(stored: OptOutDocument): Accepted {
  return { kind: 'accepted', body: { status: 'success', ...optOutRecord(stored) } };
}

/** DELETE /v2/account/opt-outs/{id} (extension): the customer gets messages again. */
export function createRemoveOptOut(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock } = deps;
  return async (req, res: Reply) => {
    const { opt_out_id: id } = req.params;
    const account = callerOf(res).account._id;
    const found = typeof id === 'string' && isOptOutId(id) ? await findOptOut(db, account, id) : undefined;
    if (found === undefined) return sendProblem(res, 'opt_out_not_found');
    const { customer, scope } = found;
    await changeAudited(deps, callerOf(res), {
      ...audited('opt-out.remove', found._id, async () => found),
      make: () => changeOptOuts(db, [{ account, customer, scope, kind: 'in', at: clock.now(), source: 'api' }]),
      madeOf: () => auditedState(undefined),
    });
    sendJson(res, { status: 'success', opt_out_id: found._id, message: 'The opt-out is removed.' });
  };
}

/** Each customer has entries of its own: its id names it, so that no phone number has to. */
function audited(action: string, id: OptOutId, find: () => Promise<OptOutDocument | undefined>) {
  return {
    action,
    subject: { kind: 'opt-out', id },
    read: async () => auditedState(await find()),
    isRefusal: () => false,
  };
}

function auditedState(found: OptOutDocument | undefined): object {
  if (found === undefined) return { out: false };
  const { customer, scope, since, source } = found;
  return { out: true, customer: maskNumber(customer), scope, since, source };
}

/** `number` is null when the opt-out is for the whole account. */
function optOutRecord({ _id, customer, scope, since, source, word }: OptOutDocument): object {
  return {
    opt_out_id: _id,
    customer,
    number: scope === WHOLE_ACCOUNT ? null : scope,
    since: since && isoTimestamp(since),
    source,
    word,
  };
}
