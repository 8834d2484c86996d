import type { BindReport, BindTrouble, CarrierMeasured } from '../../../shared/carriers/bind-report.ts';
import { troubleWords } from '../../../shared/carriers/carrier-condition.ts';
import type { ListedCarrier } from '../../../shared/carriers/list-conditions.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';

/** A carrier with what its holder reports. `words` says its state in one line. It has no secret. */
export function carrierRecord({ carrier, condition, words, binds, measured }: ListedCarrier) {
  return {
    carrier_id: carrier._id,
    name: carrier.name,
    status: carrier.status,
    host: carrier.host,
    port: carrier.port,
    tls: carrier.tls,
    system_id: carrier.systemId,
    paths: carrier.paths,
    window_size: carrier.windowSize,
    per_second: carrier.perSecond,
    condition,
    words,
    binds: binds.map((bind) => bindRecord(bind, measured)),
    measured: measured === undefined ? null : measuredRecord(measured),
  };
}

function bindRecord({ index, state, since, trouble, lastTrouble }: BindReport, measured: CarrierMeasured | undefined) {
  return {
    index,
    state,
    since: isoTimestamp(since),
    /** Submits that wait for their answer. */
    window_used: measured?.unanswered[index] ?? null,
    trouble: trouble === undefined ? null : troubleRecord(trouble),
    last_trouble: lastTrouble === undefined ? null : troubleRecord(lastTrouble),
  };
}

function troubleRecord(trouble: BindTrouble & { readonly since: Date }) {
  const { kind, code, reason, since } = trouble;
  return { kind, code, reason, since: isoTimestamp(since), words: troubleWords(trouble) };
}

function measuredRecord({ since, perSecond, answerMs, answers, receipts, lastRefusal }: CarrierMeasured) {
  return {
    since: isoTimestamp(since),
    /** Segments a second that it takes now. Null: no limit. */
    per_second: perSecond ?? null,
    answer_ms: answerMs ?? null,
    answers,
    throttled: answers.throttled ?? 0,
    receipts,
    last_refusal:
      lastRefusal === undefined
        ? null
        : { code: lastRefusal.code, reason: lastRefusal.reason, at: isoTimestamp(lastRefusal.at) },
  };
}
