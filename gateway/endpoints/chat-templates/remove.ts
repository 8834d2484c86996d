import { newId } from '../../../shared/platform/runtime/ids.ts';
import { chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { dropRequest, wishChatTemplate } from '../../../shared/templates/chat/request-store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { BEING_ASKED } from './edit.ts';
import { findNamed, NO_CHAT_TEMPLATE } from './find.ts';
import { chatTemplateRecord } from './record.ts';

/**
 * DELETE /v2/account/chatapp/templates/{name}/{language} (extension): the chatapp worker asks the provider to delete the template in
 * this language. If the provider does not have it yet, only our request for it is removed, at once.
 */
export function createRemoveChatTemplate(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Handler {
  const { db, clock } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const account = caller.account._id;
    const own = await findNamed(db, account, req);
    if (own === undefined) return sendProblem(res, 'template_not_found', NO_CHAT_TEMPLATE);
    const { name, language, listed, asked } = own;
    const id = chatTemplateId(account, name, language);
    const now = clock.now();
    const draft = asked?.draft;
    const wish = { account, name, language, wants: 'delete', ...(draft && { draft }), requestedAt: now } as const;
    const removed = await changeAudited(deps, caller, {
      action: 'chat-template.remove',
      subject: { kind: 'chat-template', id: `${name}:${language}` },
      read: async () => chatTemplateRecord(own),
      make: async () => {
        if (listed === undefined) return (await dropRequest(db, id)) ? 'gone' : undefined;
        const stored = await wishChatTemplate(db, { _id: id, ...wish, request: newId('req', now.getTime()) });
        return stored ? 'asked' : undefined;
      },
      madeOf: (done) => ({ removed: done ?? 'not' }),
      isRefusal: () => false,
    });
    if (removed === undefined) return sendProblem(res, 'template_not_editable', { detail: BEING_ASKED });
    const message =
      removed === 'gone'
        ? 'The request is taken back.'
        : 'The provider is asked to delete it. The name of an approved template cannot be used again for 30 days.';
    sendJson(res, { status: 'success', name, language, removed: removed === 'gone', message });
  };
}
