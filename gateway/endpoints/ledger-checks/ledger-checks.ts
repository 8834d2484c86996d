import type { Db } from 'mongodb';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { isLedgerCheckId, newId } from '../../../shared/platform/runtime/ids.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { optional } from '../../http/fields/field.ts';
import { accountId, NO_SUCH_ACCOUNT } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { KEPT_MS, type LedgerCheckDocument, ledgerCheckRecord } from './ledger-check.ts';
import { runCheck } from './run.ts';
import { findCheck, insertCheck, listChecks } from './store.ts';

const TOLD = 10;

export const START_CHECK = request({ account_id: optional(accountId) });

/** POST /v2/admin/ledger-checks (extension): begins to walk the ledgers. The answer comes at once; GET tells how far it is. */
export function createStartCheck(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'log' | 'stopping'>): Handler {
  const { db, clock, config } = deps;
  /** One at a time in this process, whoever asks: a second one would only make both slower. */
  let running: LedgerCheckDocument | undefined;
  return async (_req, res: Reply) => {
    const read = await readRequest(START_CHECK, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems, given } = read;
    if (given.account_id !== undefined && (await findAccount(db, given.account_id)) === undefined) {
      problems.add('account_id', 'invalid_value', NO_SUCH_ACCOUNT);
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    if (running !== undefined)
      return sendProblem(res, 'ledger_check_running', { extra: { ledger_check_id: running._id } });
    const { account_id: account } = whole(read);
    const now = clock.now();
    const check: LedgerCheckDocument = {
      _id: newId('chk', now.getTime()),
      ...(account === undefined ? {} : { account }),
      ...{ state: 'running', startedAt: now, at: now, done: 0, total: account === undefined ? 0 : 1, entries: 0 },
      ...{ broken: [], expiresAt: new Date(now.getTime() + KEPT_MS) },
    };
    running = check;
    try {
      await insertCheck(db, check);
    } catch (error) {
      running = undefined;
      throw error;
    }
    void runCheck(deps, check).finally(() => {
      running = undefined;
    });
    sendJson(res, { status: 'success', ledger_check: ledgerCheckRecord(check, now) });
  };
}

/** GET /v2/admin/ledger-checks (extension): the checks, newest first. */
export function createLedgerChecks({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const before = parseCursor(query.cursor, 'ledger_checks', isLedgerCheckId, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await listChecks(db, limit + 1, before);
    const page = found.slice(0, limit);
    const data = page.map((check) => ledgerCheckRecord(check, clock.now()));
    sendJson(res, pageOf('ledger_checks', data, found.length > limit ? page.at(-1)?._id : undefined));
  };
}

/** The newest checks, as the stream tells of them. */
export async function readLedgerChecks(db: Db, clock: Clock): Promise<object> {
  return { data: (await listChecks(db, TOLD)).map((check) => ledgerCheckRecord(check, clock.now())) };
}

/** GET /v2/admin/ledger-checks/{ledger_check_id} (extension): how far one is, and what it found. */
export function createLedgerCheck({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (req, res: Reply) => {
    const { ledger_check_id: id } = req.params;
    const found = typeof id === 'string' && isLedgerCheckId(id) ? await findCheck(db, id) : undefined;
    if (found === undefined) return sendProblem(res, 'ledger_check_not_found');
    sendJson(res, ledgerCheckRecord(found, clock.now()));
  };
}
