import type { Metrics } from '../../shared/platform/runtime/metrics.ts';

const SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const GROUP_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

/** No label names an account, because there may be thousands. */
export type ChatMetrics = ReturnType<typeof createChatMetrics>;

export function createChatMetrics(metrics: Metrics) {
  return {
    sends: metrics.counter('chatapp_sends_total', 'Requests that carried a message, by what their answer meant.', [
      'result',
    ]),
    seconds: metrics.histogram('chatapp_send_seconds', 'Duration of sends to providers.', SECONDS),
    departures: metrics.counter(
      'chatapp_departures_refused_total',
      'Messages that were accepted, and refused when they were about to be sent.',
      ['code'],
    ),
    settleSize: metrics.histogram('chatapp_settle_messages', 'Messages in one group of outcomes.', GROUP_SIZES),
    inbox: metrics.counter('chatapp_inbox_total', 'Items from the callback, by what was done with them.', ['result']),
    inboxAside: metrics.counter(
      'chatapp_inbox_set_aside_total',
      'How often an account was skipped because its items could not be read or worked off.',
    ),
    stops: metrics.counter('chatapp_stopped_total', 'Providers that were stopped: an operator must look.', ['code']),
    troubles: metrics.counter(
      'chatapp_troubles_told_total',
      'Groups of statuses that report a problem which only a person can solve.',
      ['code'],
    ),
    takenOver: metrics.counter('chatapp_unknown_taken_over_total', 'Sends left unsettled by an earlier holder.'),
    policy: metrics.counter('chatapp_unknown_decided_total', 'Sends of unknown fate that the policy decided.', [
      'policy',
    ]),
    secondTries: metrics.counter(
      'chatapp_second_tries_total',
      'Chat-app messages that were due because a code was not given back.',
      ['result'],
    ),
    fallbacks: metrics.counter('chatapp_fallbacks_total', 'SMS that were due in place of a chat-app message.', [
      'result',
    ]),
    syncs: metrics.counter('chatapp_template_syncs_total', 'Copies of providers’ template lists, by result.', [
      'result',
    ]),
    inFlight: metrics.gauge('chatapp_sends_in_flight', 'Sends that wait for their answer.'),
    broken: metrics.gauge('chatapp_breakers_open', 'Accounts whose provider fails; one send at a time tests it.'),
    partitions: metrics.gauge('chatapp_partitions', 'Partitions of the accounts that a worker holds.'),
  };
}
