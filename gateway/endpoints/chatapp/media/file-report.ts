import { callerOf, type Reply } from '../../../http/context.ts';
import type { GatewayDeps } from '../../../process/deps.ts';
import { LogLimit } from '../../chatapp-callbacks/log-limit.ts';
import type { NoFile } from './judge.ts';
import type { EndReason } from './time-limits.ts';

/** How a request for a file ended. `too_many`: no slot was free. `broken_off`: the provider's bytes did not come whole. */
type Result = 'sent' | 'too_many' | 'broken_off' | EndReason | NoFile['kind'];

/** What operators see of files: a count by result, how many are on their way, and log lines. */
export class FileReport {
  readonly #log: GatewayDeps['log'];
  readonly #limit: LogLimit;
  readonly #results;
  readonly #inFlight;

  constructor({ clock, log, metrics }: Pick<GatewayDeps, 'clock' | 'log' | 'metrics'>) {
    this.#log = log;
    this.#limit = new LogLimit(clock);
    this.#results = metrics.counter('chatapp_files_total', 'Requests for files of customers, by result.', ['result']);
    this.#inFlight = metrics.gauge('chatapp_files_in_flight', 'Files of customers that are on their way.');
  }

  inFlight(files: number): void {
    this.#inFlight.set(files);
  }

  count(result: Result): void {
    this.#results.inc({ result });
  }

  /** There is no file. Of one reason a minute is logged for each account. */
  none(res: Reply, { kind, code }: NoFile): void {
    this.count(kind);
    const account = callerOf(res).account._id;
    if (!this.#limit.allows(`${account} ${code}`)) return;
    const needsSomebody = kind === 'refused' || kind === 'unusable';
    this.#log[needsSomebody ? 'warn' : 'info']('chatapp_file_not_fetched', { ...fields(res), result: kind, code });
  }

  /** The answer was cut off after `bytes` bytes. */
  cut(res: Reply, result: Result, code: string, bytes: number): void {
    this.count(result);
    this.#log.info('chatapp_file_cut', { ...fields(res), result, code, bytes });
  }
}

function fields(res: Reply) {
  const { requestId, messageId } = res.locals;
  return { account: callerOf(res).account._id, message_id: messageId, request_id: requestId };
}
