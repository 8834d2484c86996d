import { countListed, readTemplateStatuses } from '../../../shared/chat-templates/store.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { createWholeList } from '../../access/whole-list.ts';
import type { Handler } from '../../http/context.ts';

type Listed = { readonly name: string; readonly language: string };

/**
 * GET /v2/chatapp/templates ("Chat-app template"): the account's templates, as the provider listed them last. Only
 * `approved` ones can be sent; the others show their status.
 */
export function createChatTemplates({ db, answerRead }: ReadingDeps): Handler {
  return createWholeList<Listed>(answerRead, {
    list: 'chatapp_templates',
    isPlace: (text): text is string => /^[^\s:]{1,512}:[\w-]{1,35}$/.test(text),
    placeOf: ({ name, language }) => `${name}:${language}`,
    count: (account) => countListed(db, account),
    read: (account, after, limit) => readTemplateStatuses(db, account, after, limit),
  });
}
