import { QUOTAS, type Quota, QuotaReached } from '../../shared/money/accounts/quotas.ts';
import type { ProblemAnswer } from './answer.ts';

const WORDS: Readonly<Record<Quota, { readonly what: string; readonly todo: string }>> = {
  senders: {
    what: 'senders that are not approved',
    todo: 'Remove one that was rejected or is not needed (`DELETE /v2/account/senders/{sender_id}`), or wait for the decisions. Your service provider can register senders without this limit.',
  },
  ctas: {
    what: 'registered links and numbers',
    todo: 'Remove some (`DELETE /v2/account/ctas/{cta_id}`). One link covers all that begins with it.',
  },
  templates: {
    what: 'DLT templates that are not approved',
    todo: 'Remove some that were rejected or are not needed (`DELETE /v2/account/templates/{template_id}`), wait for the decisions, or divide the file. Your service provider can import a file without this limit.',
  },
  template_requests: {
    what: 'requests for DLT templates without an id of the DLT platform',
    todo: 'Give their ids (`PATCH /v2/account/templates/{template_id}`), or remove some (`DELETE` of the same address).',
  },
  chat_template_requests: {
    what: 'chat-app templates that it asked for',
    todo: 'Remove some: `DELETE /v2/account/chatapp/templates/{name}/{language}`.',
  },
  opt_outs: {
    what: 'opt-outs that it entered',
    todo: 'Your service provider can import a list without this limit. What customers write themselves is always kept.',
  },
  exports: {
    what: 'exports',
    todo: 'Remove one (`DELETE /v2/account/exports/{export_id}`), or wait: each is removed after a day.',
  },
};

/** For `catch`: turns `QuotaReached` into a refusal (nothing was stored) and throws every other error on. */
export function quotaRefusal(error: unknown): {
  readonly kind: 'refused';
  readonly problem: readonly ['quota_reached', ProblemAnswer];
} {
  if (!(error instanceof QuotaReached)) throw error;
  const { quota, wanted, room } = error;
  const { what, todo } = WORDS[quota];
  const limit = QUOTAS[quota];
  const first = `An account may have ${limit} ${what}.`;
  const many = wanted === 1 ? '' : ` These are ${wanted} more, and there is room for ${room}.`;
  const detail = `${first}${many} ${todo}`;
  return { kind: 'refused', problem: ['quota_reached', { detail, extra: { quota, limit } }] };
}
