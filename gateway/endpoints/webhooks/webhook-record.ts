import type { Db } from 'mongodb';
import type { DeliveryAttempt, Stored } from '../../../shared/events/webhooks/delivery.ts';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery-store.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { disabledWords, resultWords } from '../../../shared/events/webhooks/result-words.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { EndpointId } from '../../../shared/platform/runtime/ids.ts';
import type { GatewayDeps } from '../../http/deps.ts';

/** Deliveries that are looked at for the newest failure of an endpoint that fails. */
const LOOKED_AT = 20;

/** A webhook as the API shows it. `last_failure` is there while it fails. */
export async function webhookRecord(
  { db, clock }: Pick<GatewayDeps, 'db' | 'clock'>,
  endpoint: EndpointDocument,
): Promise<object> {
  const { _id, channel, url, events, status, failingSince, secrets, createdAt } = endpoint;
  const last = failingSince === undefined ? undefined : await lastAttempt(db, _id);
  const now = clock.now();
  const old = secrets.map(({ expiresAt }) => expiresAt).filter((at) => at !== undefined && at > now);
  const until = old.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
  return {
    webhook_id: _id,
    channel,
    url,
    events,
    state: status,
    disabled_reason: status === 'disabled' ? disabledWords(endpoint.disabledReason) : null,
    failing_since: failingSince === undefined ? null : isoTimestamp(failingSince),
    last_failure: last === undefined ? null : attemptRecord(last),
    old_secret_until: until === undefined ? null : isoTimestamp(until),
    created_at: isoTimestamp(createdAt),
  };
}

/** One post. `reason` says in words what `result` means. */
export function attemptRecord({ at, result, durationMs }: DeliveryAttempt) {
  return { at: isoTimestamp(at), result, reason: resultWords(result), duration_ms: Math.round(durationMs) };
}

/** The newest attempt among the endpoint's newest deliveries. Undefined while none of them was tried. */
async function lastAttempt(db: Db, endpoint: EndpointId): Promise<DeliveryAttempt | undefined> {
  const found = await deliveriesOf(db)
    .find({ endpoint })
    .sort({ _id: -1 })
    .hint('log')
    .limit(LOOKED_AT)
    .project<Pick<Stored, 'attempts'>>({ 'attempts.at': 1, 'attempts.result': 1, 'attempts.durationMs': 1 })
    .toArray();
  const attempts = found.flatMap((stored) => stored.attempts.flatMap((attempt) => attempt ?? []).slice(-1));
  return attempts.reduce<DeliveryAttempt | undefined>((a, b) => (a === undefined || b.at > a.at ? b : a), undefined);
}
