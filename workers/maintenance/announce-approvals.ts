import { countWaiting, newestWaiting } from '../../shared/templates/sms/approval-queue.ts';
import { lastTold, mailNotice, noteTold, type TellDeps } from './tell.ts';

const HOUR_MS = 3_600_000;
/** Longer than that is not remembered what was told. */
const NEW_MS = 2 * HOUR_MS;
/** More than so many are not told apart. */
const COUNTED_MAX = 1_000;

/**
 * Mails operators that accounts ask for senders, CTAs or DLT templates: when something waits that came after the last such mail, and an hour
 * after it. If the process dies between the mails and the note of them, the same mails are made again, which adds nothing.
 */
export async function announceApprovals(deps: TellDeps): Promise<void> {
  const { db, clock } = deps;
  const now = clock.now();
  const what = { event: 'approval.waiting', account: undefined, subject: 'approvals' } as const;
  const last = await lastTold(db, what);
  if (last !== undefined && now.getTime() - last.toldAt.getTime() < HOUR_MS) return;
  const at = await newestWaiting(db, last?.at ?? new Date(now.getTime() - NEW_MS));
  if (at === undefined) return;
  const [senders, ctas, templates] = await Promise.all([
    countWaiting(db, 'senders', COUNTED_MAX),
    countWaiting(db, 'ctas', COUNTED_MAX),
    countWaiting(db, 'templates', COUNTED_MAX),
  ]);
  await mailNotice(deps, { ...what, at, told: { senders, ctas, templates } });
  await noteTold(db, { ...what, at }, now);
}
