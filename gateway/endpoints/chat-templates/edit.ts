import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { wishChatTemplate } from '../../../shared/templates/chat/request-store.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidUrlRequest, type UrlCheck } from '../../http/fields/public-url.ts';
import { readRequest, whole } from '../../http/fields/request.ts';
import { draftOf } from './draft.ts';
import { EDIT_CHAT_TEMPLATE } from './fields.ts';
import { findNamed, NO_CHAT_TEMPLATE, readOwn } from './find.ts';
import { chatTemplateRecord, type OwnChatTemplate } from './record.ts';
import { checkSample } from './sample.ts';

/** What the provider lets be edited (WhatsApp, "Template management"). */
const EDITABLE: readonly string[] = ['approved', 'rejected', 'paused'];

/**
 * PATCH /v2/account/chatapp/templates/{name}/{language} (extension): new content for a template, which the provider reviews again. If
 * the provider does not list the template (not asked yet, or refused), it is requested with the new content.
 */
export function createEditChatTemplate(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
  urlCheck: UrlCheck,
): Handler {
  const { db, clock, config } = deps;
  return async (req, res: Reply) => {
    const caller = callerOf(res);
    const account = caller.account._id;
    const read = await readRequest(EDIT_CHAT_TEMPLATE, bodyOf(res), {
      account: caller.account,
      now: clock.now(),
      config,
    });
    const { problems } = read;
    const draft = problems.count > 0 ? undefined : draftOf(whole(read), problems);
    if (draft !== undefined) await checkSample(account, draft, await findProvider(db, account), urlCheck, problems);
    if (draft === undefined || problems.count > 0) return sendProblem(res, ...invalidUrlRequest(problems));
    const own = await findNamed(db, account, req);
    if (own === undefined) return sendProblem(res, 'template_not_found', NO_CHAT_TEMPLATE);
    const { name, language } = own;
    const detail = whyNot(own);
    if (detail !== undefined) return sendProblem(res, 'template_not_editable', { detail });
    const wants = own.listed === undefined ? 'create' : 'edit';
    const now = clock.now();
    const wish = {
      account,
      name,
      language,
      wants,
      draft,
      request: newId('req', now.getTime()),
      requestedAt: now,
    } as const;
    const made = await changeAudited(deps, caller, {
      action: 'chat-template.edit',
      subject: { kind: 'chat-template', id: `${name}:${language}` },
      read: async () => own.asked?.draft ?? own.listed?.components,
      make: () => wishChatTemplate(db, { _id: chatTemplateId(account, name, language), ...wish }),
      madeOf: () => draft,
      isRefusal: () => false,
    });
    if (!made) return sendProblem(res, 'template_not_editable', { detail: BEING_ASKED });
    sendJson(res, { status: 'success', ...chatTemplateRecord(await readOwn(db, account, name, language)) });
  };
}

export const BEING_ASKED =
  'The provider is just being asked about this template, or webhooks are being told of it. Try again in a minute.';

function whyNot({ listed, asked }: OwnChatTemplate): string | undefined {
  if (asked?.due !== undefined && (asked.askedAt !== undefined || asked.wants === 'delete')) return BEING_ASKED;
  if (listed === undefined || EDITABLE.includes(listed.status)) return undefined;
  return `The provider lets only approved, rejected and paused templates be edited; it is ${listed.status}.`;
}
