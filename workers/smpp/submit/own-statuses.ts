import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { CommandStatusClass } from '../../../shared/carriers/command-status.ts';
import type { StatusMeaning } from '../../../shared/carriers/settings/answers.ts';

/** A carrier's deviations from the standard's classes, and the pauses that it wants, by decimal status. */
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

/** `statusClasses` of the document are from before there was a setting for them. */
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
