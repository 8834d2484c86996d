import type { Metrics } from '../../shared/runtime/metrics.ts';

const SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const GROUP_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

/** What this worker tells of itself at `/metrics`. No label names an account: there may be thousands. */
export type ChatMetrics = ReturnType<typeof createChatMetrics>;

export function createChatMetrics(metrics: Metrics) {
  return {
    sends: metrics.counter('chatapp_sends_total', 'Requests that carried a message, by what their answer meant.', [
      'result',
    ]),
    seconds: metrics.histogram('chatapp_send_seconds', 'Duration of sends to providers.', SECONDS),
    departures: metrics.counter('chatapp_departures_refused_total', 'Messages refused when they were about to leave.', [
      'code',
    ]),
    settleSize: metrics.histogram('chatapp_settle_messages', 'Messages of one settled group of outcomes.', GROUP_SIZES),
    inbox: metrics.counter('chatapp_inbox_total', 'What came in at the callback, by what was done with it.', [
      'result',
    ]),
    inboxAside: metrics.counter(
      'chatapp_inbox_set_aside_total',
      'Times that an account was left alone because its items could not be read or worked off.',
    ),
    stops: metrics.counter('chatapp_stopped_total', 'Providers that were stopped: somebody must look.', ['code']),
    troubles: metrics.counter(
      'chatapp_troubles_told_total',
      'Groups of statuses that tell of a trouble which only a person can mend.',
      ['code'],
    ),
    takenOver: metrics.counter('chatapp_unknown_taken_over_total', 'Sends left unsettled by an earlier holder.'),
    policy: metrics.counter('chatapp_unknown_decided_total', 'Unknown sends that policy decided.', ['policy']),
    syncs: metrics.counter('chatapp_template_syncs_total', 'Copies of providers’ template lists, by result.', [
      'result',
    ]),
    inFlight: metrics.gauge('chatapp_sends_in_flight', 'Sends that wait for their answer.'),
    broken: metrics.gauge('chatapp_breakers_open', 'Accounts whose provider fails: one send probes now and then.'),
    partitions: metrics.gauge('chatapp_shares', 'Partitions of the accounts that a worker holds.'),
  };
}
