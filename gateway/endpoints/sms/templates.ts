import { countApproved, readApprovedTexts } from '../../../shared/templates/sms/approved-store.ts';
import { isDltId } from '../../../shared/templates/sms/template-form.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { createWholeList } from '../../access/whole-list.ts';
import type { Handler } from '../../http/context.ts';

type Listed = { readonly id: string };

/**
 * GET /v2/templates ("DLT template"): the account's approved templates, by id. Always read from the store, so that a
 * new approval shows at once.
 */
export function createTemplates({ db, answerRead }: ReadingDeps): Handler {
  return createWholeList<Listed>(answerRead, {
    list: 'templates',
    isPlace: (text): text is string => isDltId(text),
    placeOf: ({ id }) => id,
    count: (account) => countApproved(db, account),
    read: (account, after, limit) => readApprovedTexts(db, account, after, limit),
  });
}
