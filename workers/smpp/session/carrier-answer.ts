import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import {
  type CommandStatusClass,
  STATUS,
  statusClass,
  statusReason,
  statusText,
} from '../../../shared/carriers/command-status.ts';
import type { StatusMeaning } from '../../../shared/carriers/settings/answers.ts';
import type { SubmitAnswer } from '../../../shared/carriers/smpp/session.ts';

/** What a carrier answered to one segment, read by its settings: the same for every kind of carrier. */
export interface CarrierAnswer {
  readonly meaning: CommandStatusClass;
  /** As `error_code` shows it: `0x0B`. */
  readonly code: string;
  /** In words, for people. */
  readonly reason: string;
  /** Empty if it was refused, or if the carrier gave no id. */
  readonly messageId: string;
  /** The pause that the carrier's settings ask for after this answer. */
  readonly pauseMs?: number;
  /** It has too much to do, which says nothing against the carrier. */
  readonly isBusy?: true;
}

/** What the words of the settings mean. */
export const CLASSES: Readonly<Record<StatusMeaning['means'], CommandStatusClass>> = {
  retry: 'retry',
  throttle: 'throttled',
  fail: 'rejected',
  failover: 'failover',
  bind: 'bind',
};

/** At Aldeamo 0x14 can also mean an empty balance. */
const BUSY: ReadonlySet<number> = new Set([STATUS.queueFull, STATUS.throttled]);

/**
 * Reads the answers of an SMPP carrier. Its own meanings of statuses come before the standard's. Older documents have `statusClasses`
 * from the time before there was a setting.
 */
export function submitAnswers({
  statusClasses,
  answers,
}: Pick<CarrierDocument, 'statusClasses' | 'answers'>): (answer: SubmitAnswer) => CarrierAnswer {
  const meanings = answers?.statusClass ?? [];
  const classes = {
    ...statusClasses,
    ...Object.fromEntries(meanings.map(({ status, means }) => [status, CLASSES[means]])),
  };
  const pauses = new Map(
    meanings.flatMap(({ status, pauseSeconds: pause }) => (pause === undefined ? [] : [[status, pause * 1_000]])),
  );
  return ({ status, messageId }) => {
    const pauseMs = pauses.get(status);
    return {
      meaning: statusClass(status, classes),
      code: statusText(status),
      reason: statusReason(status),
      messageId,
      ...(pauseMs === undefined ? {} : { pauseMs }),
      ...(BUSY.has(status) ? { isBusy: true } : {}),
    };
  };
}
