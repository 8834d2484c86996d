import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import type { StatusMeaning } from '../../../shared/carriers/settings/answers.ts';

/** How a carrier differs from the standard's classes of statuses, and which pauses it wants. Both are by status in decimal. */
export interface OwnStatuses {
  readonly statusClasses: Readonly<Record<string, CommandStatusClass>>;
  readonly statusPausesMs: Readonly<Record<string, number>>;
}

const CLASSES: Readonly<Record<StatusMeaning['means'], CommandStatusClass>> = {
  retry: 'retry',
  throttle: 'throttled',
  fail: 'rejected',
  failover: 'failover',
  bind: 'bind',
};

/** Reads both from the carrier's settings. Older documents have `statusClasses` from the time before there was a setting. */
export function ownStatuses({
  statusClasses,
  answers,
}: Pick<CarrierDocument, 'statusClasses' | 'answers'>): OwnStatuses {
  const meanings = answers?.statusClass ?? [];
  return {
    statusClasses: {
      ...statusClasses,
      ...Object.fromEntries(meanings.map(({ status, means }) => [status, CLASSES[means]])),
    },
    statusPausesMs: Object.fromEntries(
      meanings.flatMap(({ status, pauseSeconds }) =>
        pauseSeconds === undefined ? [] : [[status, pauseSeconds * 1_000]],
      ),
    ),
  };
}
