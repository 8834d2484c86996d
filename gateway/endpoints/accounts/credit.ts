import { createHash } from 'node:crypto';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isApplied } from '../../../shared/money/ledger/applied.ts';
import { BalanceTooLow, changeCredits, creditChange } from '../../../shared/money/ledger/change.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { sendJsonText, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest, wrongType } from '../../http/field-problems.ts';
import { choice, type Kind, required } from '../../http/fields/field.ts';
import { line } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { parseIdempotencyKey } from '../../http/idempotency/idempotency-key.ts';
import { accountInPath } from './find-account.ts';

/** Far above any real top-up; sums stay exact in a double. */
const AMOUNT_MAX = 1_000_000_000_000;

const amount: Kind<number> = {
  schema: {
    type: 'integer',
    description: 'Credits. A `correction` may be negative, but never below the balance.',
    minimum: -AMOUNT_MAX,
    maximum: AMOUNT_MAX,
  },
  read(value, name, { problems }) {
    if (typeof value !== 'number') {
      return problems.add(name, 'wrong_type', `It must be a number, not ${wrongType(value)}.`);
    }
    if (Number.isInteger(value) && value !== 0 && Math.abs(value) <= AMOUNT_MAX) return value;
    return problems.add(name, 'out_of_range', `It must be a whole number, not 0, of at most ${AMOUNT_MAX}.`);
  },
};

export const CREDIT = request(
  {
    kind: required(choice(['top_up', 'correction'], '`correction` puts a mistake right.')),
    amount: required(amount),
    reason: required(line('Why. The account reads it in its statement.', 200)),
  },
  [],
  [
    ({ kind, amount }, _has, problems) => {
      if (kind === 'top_up' && amount !== undefined && amount < 0) {
        problems.add('amount', 'out_of_range', 'A top-up adds credits. To take credits away, make a correction.');
      }
    },
  ],
);

/**
 * POST /v2/admin/accounts/{account_id}/credits (extension): a top-up or a correction. An Idempotency-Key is the credit's id, as
 * `--id` of `ops credits` is: the account gets a credit with this id once, however long ago the first request was.
 */
export function createCredit(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const read = await readRequest(CREDIT, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems } = read;
    const header = req.headers['idempotency-key'];
    const id = header === undefined ? newId('top', clock.now().getTime()).slice(4) : creditId(String(header));
    if (id === undefined)
      problems.add('Idempotency-Key', 'invalid_value', 'It must have 1 to 255 visible ASCII characters.');
    if (problems.count > 0 || id === undefined) return sendProblem(res, ...invalidRequest(problems));
    const account = await accountInPath(db, req);
    if (account === undefined) return sendProblem(res, 'account_not_found');
    const { kind, amount, reason } = whole(read);
    const { who } = requesterOf(res);
    const apply = () => changeCredits(db, account._id, { kind, amount, id, note: reason, by: `${who.kind} ${who.id}` });
    try {
      // A repeated request changes nothing, so the audit keeps what it says of the first one.
      const isRepeated = await isApplied(db, account._id, creditChange(id));
      const done = await (isRepeated
        ? apply()
        : changeAudited(deps, requesterOf(res), {
            action: kind === 'top_up' ? 'credits.top-up' : 'credits.correct',
            subject: { kind: 'credits', id: account._id },
            account: account._id,
            apart: id,
            read: async () => ({ balance: (await findAccount(db, account._id))?.balance }),
            make: apply,
            madeOf: (made) =>
              made.kind === 'reused' ? undefined : { balance: made.balance, amount, reason, credit: id },
            isRefusal: (error) => error instanceof BalanceTooLow,
          }));
      if (done.kind === 'reused') return sendProblem(res, 'idempotency_key_reused');
      const body = {
        status: 'success',
        account_id: account._id,
        credit_id: id,
        kind,
        amount,
        reason,
        balance: done.balance,
      };
      const replayed = done.kind === 'already' ? ['Idempotency-Replayed', 'true'] : [];
      sendJsonText(res, 200, JSON.stringify(body), replayed);
    } catch (error) {
      if (!(error instanceof BalanceTooLow)) throw error;
      problems.add('amount', 'out_of_range', `The account has ${error.balance} credits. Take at most these.`);
      sendProblem(res, ...invalidRequest(problems));
    }
  };
}

/** A top-up's id becomes part of a field name in the account document: no dot, no dollar. */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,64}$/;

function creditId(header: string): string | undefined {
  const key = parseIdempotencyKey(header);
  if (key === undefined || PLAIN_ID.test(key)) return key;
  return createHash('sha256').update(key).digest('base64url');
}
