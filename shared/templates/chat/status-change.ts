import type { ChatTemplateStatus, OwedStatus } from './chat-template.ts';

/** The provider has not decided yet, so webhooks are told nothing when a template gets one of these. */
const UNDER_REVIEW: readonly ChatTemplateStatus[] = ['pending', 'in_appeal'];

/** What webhooks are told when a template goes from one status to another. Pure. */
function toldOf(from: ChatTemplateStatus | undefined, to: ChatTemplateStatus): OwedStatus['told'] | undefined {
  if (from === to || UNDER_REVIEW.includes(to)) return undefined;
  if (to === 'approved' || to === 'rejected') return to;
  return from === 'approved' ? 'stopped' : undefined;
}

export function owedOf(
  from: ChatTemplateStatus | undefined,
  status: ChatTemplateStatus,
  reason: string | undefined,
  at: Date,
): readonly OwedStatus[] {
  const told = toldOf(from, status);
  return told === undefined ? [] : [{ told, status, ...(reason === undefined ? {} : { reason }), at }];
}

/** What may be deleted: webhooks have been told all of it. */
export const NOTHING_OWED = { 'owed.0': { $exists: false } } as const;
