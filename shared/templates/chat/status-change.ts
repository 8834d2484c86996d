import type { ChatTemplateStatus, UnannouncedStatus } from './chat-template.ts';

/** The provider has not decided yet, so webhooks are told nothing when a template gets one of these. */
const UNDER_REVIEW: readonly ChatTemplateStatus[] = ['pending', 'in_appeal'];

/** What webhooks are told when a template goes from one status to another. Pure. */
function toldOf(from: ChatTemplateStatus | undefined, to: ChatTemplateStatus): UnannouncedStatus['told'] | undefined {
  if (from === to || UNDER_REVIEW.includes(to)) return undefined;
  if (to === 'approved' || to === 'rejected') return to;
  return from === 'approved' ? 'stopped' : undefined;
}

export function unannouncedOf(
  from: ChatTemplateStatus | undefined,
  status: ChatTemplateStatus,
  reason: string | undefined,
  at: Date,
): readonly UnannouncedStatus[] {
  const told = toldOf(from, status);
  return told === undefined ? [] : [{ told, status, ...(reason === undefined ? {} : { reason }), at }];
}

/** What may be deleted: webhooks have been told all of it. */
export const ALL_ANNOUNCED = { 'unannounced.0': { $exists: false } } as const;
