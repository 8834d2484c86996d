import { completedNumber, digitsOf } from '../../../shared/carriers/numbers/notation.ts';
import {
  isNumberKey,
  KEYWORD_MAX,
  keywordOf,
  type NumberDocument,
  numberKey,
} from '../../../shared/carriers/numbers/number.ts';
import {
  addNumber,
  findNumber,
  listNumbers,
  NumberTaken,
  removeNumber,
} from '../../../shared/carriers/numbers/store.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { phoneDigits } from '../../../shared/platform/sheets/cell.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, type Handler, type Reply, requesterOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { Fault, optional, required, string } from '../../http/fields/field.ts';
import { accountId, country, NO_SUCH_ACCOUNT, parseQueryAccount } from '../../http/fields/operator-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';

const NUMBER = /^[1-9]\d{2,14}$/;

export const ADD_NUMBER = request({
  number: required(
    string(
      {
        description:
          'A long number with its country code, or a short code. With `country`, a number as inside it is completed.',
        minLength: 3,
        maxLength: 32,
      },
      (text) => {
        const digits = digitsOf(phoneDigits(text));
        return NUMBER.test(digits) ? digits : new Fault('invalid_value', 'It must be 3 to 15 digits.');
      },
    ),
  ),
  account_id: required(accountId),
  keyword: optional(
    string(
      {
        description: 'Only messages that begin with this word. Without it: all that no keyword fits.',
        maxLength: KEYWORD_MAX,
      },
      (text) =>
        /\s/.test(text.trim()) || keywordOf(text) === ''
          ? new Fault('invalid_value', `It must be one word of letters and digits, at most ${KEYWORD_MAX}.`)
          : keywordOf(text),
    ),
  ),
  country: optional(country),
});

/** GET /v2/admin/numbers (extension): numbers that handsets write to, and whose they are. */
export function createNumberList({ db }: Pick<GatewayDeps, 'db'>): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['account_id', 'limit', 'cursor'], problems);
    const account = parseQueryAccount(query.account_id, problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'numbers', isNumberKey, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const found = await listNumbers(db, account, limit + 1, after);
    const page = found.slice(0, limit);
    sendJson(res, pageOf('numbers', page.map(numberRecord), found.length > limit ? page.at(-1)?._id : undefined));
  };
}

/** POST /v2/admin/numbers (extension): gives a number, or a keyword of it, to an account. */
export function createAddNumber(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock, config } = deps;
  return async (_req, res: Reply) => {
    const read = await readRequest(ADD_NUMBER, bodyOf(res), { account: {}, now: clock.now(), config });
    const { problems, given } = read;
    if (given.account_id !== undefined && (await findAccount(db, given.account_id)) === undefined) {
      problems.add('account_id', 'invalid_value', NO_SUCH_ACCOUNT);
    }
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const { number: written, account_id: account, keyword = '', country } = whole(read);
    const number = completedNumber(written, country);
    try {
      const made = await changeAudited(deps, requesterOf(res), {
        action: 'number.add',
        subject: { kind: 'number', id: numberKey(number, keyword) },
        account,
        read: async () => undefined,
        make: () => addNumber(db, clock, { number, keyword, account, ...(country === undefined ? {} : { country }) }),
        madeOf: (one) => one,
        isRefusal: (error) => error instanceof NumberTaken,
      });
      sendJson(res, { status: 'success', number: numberRecord(made) });
    } catch (error) {
      if (!(error instanceof NumberTaken)) throw error;
      problems.add('number', 'invalid_value', `It belongs to ${error.account} already. Take it away from there first.`);
      sendProblem(res, ...invalidRequest(problems));
    }
  };
}

/** DELETE /v2/admin/numbers/{number} (extension): takes a number, or with `keyword` one keyword of it, from its account. */
export function createRemoveNumber(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db } = deps;
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const { keyword = '' } = parseQuery(req, ['keyword'], problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const number = String(req.params.number);
    const found = (await findNumber(db, number)).find((one) => one.keyword === keyword);
    if (found === undefined) return sendProblem(res, 'number_not_found');
    await changeAudited(deps, requesterOf(res), {
      action: 'number.remove',
      subject: { kind: 'number', id: numberKey(number, keyword) },
      account: found.account,
      read: async () => found,
      make: () => removeNumber(db, number, keyword),
      madeOf: (removed) => ({ removed }),
      isRefusal: () => false,
    });
    sendJson(res, { status: 'success', number: numberRecord(found), message: 'It belongs to nobody now.' });
  };
}

function numberRecord({ number, keyword, account, country, createdAt }: NumberDocument): object {
  return {
    number,
    keyword: keyword === '' ? null : keyword,
    account_id: account,
    country: country ?? null,
    created_at: isoTimestamp(createdAt),
  };
}
