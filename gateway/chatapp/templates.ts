import { readTemplateStatuses } from '../../shared/chat-templates/store.ts';
import type { ReadingDeps } from '../access/costly-reads.ts';
import { callerOf, type Handler, type Reply } from '../http/context.ts';
import { listJson } from '../http/list-json.ts';

/**
 * GET /v2/chatapp/templates ("Chat-app template"): the account's templates, as the provider listed them last. Only
 * `approved` ones can be sent; the others show their status.
 */
export function createChatTemplates({ db, answerRead }: ReadingDeps): Handler {
  return async (_req, res: Reply) => {
    const account = callerOf(res).account._id;
    const read = (): Promise<string> => listJson('templates', readTemplateStatuses(db, account));
    await answerRead(res, 1, read);
  };
}
