import type { Db } from 'mongodb';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, isTemplateRequestId } from '../../../shared/platform/runtime/ids.ts';
import { listTemplateRequests } from '../../../shared/templates/sms/request-store.ts';
import { listTemplates } from '../../../shared/templates/sms/store.ts';
import type { TemplateDocument } from '../../../shared/templates/sms/template.ts';
import { isDltId } from '../../../shared/templates/sms/template-form.ts';
import type { TemplateRequestDocument } from '../../../shared/templates/sms/template-request.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendProblem } from '../../http/answer.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery, parseQueryChoice } from '../../http/query.ts';
import { templateRecord } from './record.ts';

const STATES = ['requested', 'submitted', 'approved', 'rejected'] as const;
type State = (typeof STATES)[number];
/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

/**
 * GET /v2/account/templates (extension): the account's DLT templates with their states: first what has no id of the DLT platform
 * yet, newest first, then the others by id.
 */
export function createAccountTemplates({ db, clock, answerRead }: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const query = parseQuery(req, ['state', 'limit', 'cursor'], problems);
    const limit = parseLimit(query.limit, problems);
    const after = parseCursor(query.cursor, 'account_templates', isPlace, problems);
    const status = parseQueryChoice('state', query.state, STATES, problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    const account = callerOf(res).account._id;
    await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
      const found = await readPage(db, clock, account, status, after, limit + 1);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return pageOf('account_templates', page.map(templateRecord), last && placeOf(last));
    });
  };
}

type Listed = TemplateDocument | TemplateRequestDocument;

async function readPage(
  db: Db,
  clock: Clock,
  account: AccountId,
  status: State | undefined,
  after: string | undefined,
  limit: number,
): Promise<readonly Listed[]> {
  const behindRequests = after !== undefined && !isTemplateRequestId(after);
  const requests =
    behindRequests || status === 'submitted' || status === 'approved'
      ? []
      : await listTemplateRequests(
          db,
          clock,
          account,
          { status },
          after !== undefined && isTemplateRequestId(after) ? after : undefined,
          limit,
        );
  if (requests.length >= limit || status === 'requested') return requests;
  const rest = await listTemplates(db, account, status, behindRequests ? after : undefined, limit - requests.length);
  return [...requests, ...rest];
}

function isPlace(text: string): text is string {
  return isTemplateRequestId(text) || isDltId(text);
}

function placeOf(listed: Listed): string {
  return isTemplateRequestId(listed._id) ? listed._id : (listed.dltId ?? '');
}
