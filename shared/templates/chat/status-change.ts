import type { ChatTemplateStatus, UnannouncedStatus } from './chat-template.ts';

/** The provider has not decided yet, so nothing is announced when a template gets one of these. */
const UNDER_REVIEW: readonly ChatTemplateStatus[] = ['pending', 'in_appeal'];

/** What is announced when a template goes from one status to another. Pure. */
function eventOf(from: ChatTemplateStatus | undefined, to: ChatTemplateStatus): UnannouncedStatus['event'] | undefined {
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
  const event = eventOf(from, status);
  return event === undefined ? [] : [{ event, status, ...(reason === undefined ? {} : { reason }), at }];
}

/** What may be deleted: all of it is announced. */
export const ALL_ANNOUNCED = { 'unannounced.0': { $exists: false } } as const;
