import type { Metrics } from '../../../shared/platform/runtime/metrics.ts';

export type SmppMetrics = ReturnType<typeof createSmppMetrics>;

const ANSWER_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const GROUP_SIZES = [1, 2, 5, 10, 20, 50, 100, 200];

export function createSmppMetrics(metrics: Metrics) {
  return {
    bindsUp: metrics.gauge('smpp_binds', 'Binds that are bound.', ['carrier']),
    unanswered: metrics.gauge('smpp_window_used', 'Submits that wait for their answer.', ['carrier']),
    waiting: metrics.gauge('smpp_window_waiting', 'Segments that wait for a slot or for the rate.', ['carrier']),
    orphans: metrics.gauge('smpp_fresh_orphans', 'Receipts of the last minutes that fit no message yet.', ['carrier']),
    binds: metrics.counter('smpp_binds_total', 'Binds that succeeded.', ['carrier']),
    submits: metrics.counter('smpp_submits_total', 'submit_sm written.', ['carrier']),
    recoded: metrics.counter('smpp_recoded_total', 'Texts that went in another encoding than was counted at accept.', [
      'carrier',
      'to',
    ]),
    answerSeconds: metrics.histogram('smpp_answer_seconds', 'Time to the answer of a submit_sm.', ANSWER_SECONDS, [
      'carrier',
    ]),
    rate: metrics.gauge('smpp_rate', 'Segments a second that the carrier may be sent now; 0: no limit.', ['carrier']),
    receiptStates: metrics.counter('smpp_receipt_states_total', 'Receipts, by the state that they tell.', [
      'carrier',
      'state',
    ]),
    answers: metrics.counter('smpp_answers_total', 'Answers to submit_sm, by what they mean.', ['carrier', 'class']),
    outcomes: metrics.counter('smpp_outcomes_total', 'What became of claimed messages.', ['carrier', 'outcome']),
    receipts: metrics.counter('smpp_receipts_total', 'Receipts, by what was done with them.', ['carrier', 'result']),
    otherWords: metrics.counter(
      'smpp_receipts_unknown_word_total',
      'Receipts whose word no table has, by what it was taken for.',
      ['carrier', 'meaning'],
    ),
    inbound: metrics.counter(
      'smpp_inbound_total',
      'Messages from handsets and their parts, by what was done with them.',
      ['carrier', 'result'],
    ),
    inboundRefused: metrics.counter('smpp_inbound_refused_total', 'Messages from handsets that were refused.', [
      'carrier',
    ]),
    optOutAnswers: metrics.counter(
      'smpp_opt_out_answers_total',
      "Answers to customers' STOP, START and HELP, by what became of them.",
      ['carrier', 'result'],
    ),
    takenOver: metrics.counter('smpp_unknown_taken_over_total', 'Submits left unsettled by an earlier holder.', [
      'carrier',
    ]),
    policy: metrics.counter('smpp_unknown_decided_total', 'Unknown submits that policy decided, by what they became.', [
      'carrier',
      'policy',
      'became',
    ]),
    claimSize: metrics.histogram('smpp_claim_messages', 'Messages of one claim.', GROUP_SIZES),
    settleSize: metrics.histogram('smpp_settle_messages', 'Messages of one settled group.', GROUP_SIZES, ['stream']),
  };
}
