import { readApprovedTexts } from '../../shared/templates/approved-store.ts';
import type { ReadingDeps } from '../access/costly-reads.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { listJson } from '../http/list-json.ts';

/**
 * GET /v2/templates ("DLT template"): the account's approved templates, by id. Always read from the store, so that a
 * new approval shows at once.
 */
export function createTemplates({ db, answerRead }: ReadingDeps): Handler {
  return async (_req, res: Reply) => {
    const account = callerOf(res).account._id;
    const read = (): Promise<string> => listJson('templates', readApprovedTexts(db, account));
    await answerRead(res, 1, read);
  };
}
