import type { Db } from 'mongodb';
import { findProvider } from '../../../shared/carriers/providers/store.ts';
import { QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { type AccountId, newId, type RequestId } from '../../../shared/platform/runtime/ids.ts';
import { chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { findByRequest, wishChatTemplate } from '../../../shared/templates/chat/request-store.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidUrlRequest, type UrlCheck } from '../../http/fields/public-url.ts';
import { readRequest, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { quotaProblem, quotaReached } from '../../http/quota-problem.ts';
import { draftOf } from './draft.ts';
import { REQUEST_CHAT_TEMPLATE } from './fields.ts';
import { readOwn } from './find.ts';
import { chatTemplateRecord, stateOf } from './record.ts';
import { checkSample } from './sample.ts';

/**
 * POST /v2/account/chatapp/templates (extension): asks the provider for a template. The answer says that this is stored; the
 * chatapp worker asks, and the provider decides.
 */
export function createRequestChatTemplate(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>,
  urlCheck: UrlCheck,
): Action<RequestId> {
  const { db, clock, config } = deps;
  return {
    name: 'request-chat-template',
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const context = { account: caller.account, now: clock.now(), config };
      const read = await readRequest(REQUEST_CHAT_TEMPLATE, bodyOf(res), context);
      const { problems } = read;
      const draft = problems.count > 0 ? undefined : draftOf(whole(read), problems);
      const provider = await findProvider(db, account);
      if (draft !== undefined) await checkSample(account, draft, provider, urlCheck, problems);
      if (draft === undefined || problems.count > 0) return { kind: 'refused', problem: invalidUrlRequest(problems) };
      if (provider === undefined) {
        return { kind: 'refused', problem: ['chatapp_not_configured', {}] };
      }
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { name, language } = whole(read);
      const own = await readOwn(db, account, name, language);
      // What the provider refused, or has deleted, may be asked for again.
      const mayAsk = own.listed === undefined && own.asked?.due === undefined;
      const wish = { account, name, language, wants: 'create', draft, request: id, requestedAt: clock.now() } as const;
      const made =
        mayAsk &&
        (await changeAudited(deps, caller, {
          action: 'chat-template.request',
          subject: { kind: 'chat-template', id: `${name}:${language}` },
          read: async () => undefined,
          make: () => wishChatTemplate(db, { _id: chatTemplateId(account, name, language), ...wish }),
          madeOf: () => draft,
          isRefusal: (error) => error instanceof QuotaReached,
        }).catch(quotaReached));
      if (made instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(made) };
      if (!made) {
        const detail = `The account has ${name} in ${language} already; it is ${stateOf(own)}. Change that one, or use another name.`;
        return { kind: 'refused', problem: ['template_exists', { detail }] };
      }
      return answerOf(db, account, name, language);
    },
    async recover(account, id) {
      const asked = await findByRequest(db, account, id);
      return asked && answerOf(db, account, asked.name, asked.language);
    },
  };
}

async function answerOf(db: Db, account: AccountId, name: string, language: string): Promise<Accepted> {
  const asked = chatTemplateRecord(await readOwn(db, account, name, language));
  return { kind: 'accepted', body: { status: 'success', ...asked } };
}
