import type { AccountId, EndpointId, ReplayId } from '../../platform/runtime/ids.ts';
import type { DeliveryId } from './delivery.ts';

/**
 * "Post again what this endpoint did not get since that time", as an account asks for it. The webhook worker works it off page by
 * page, newest first, and notes here how far it has come.
 *
 * `running` → `done`, or `stopped` when the endpoint was disabled or removed meanwhile.
 */
export interface ReplayDocument {
  readonly _id: ReplayId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  readonly since: Date;
  readonly state: 'running' | 'done' | 'stopped';
  readonly startedAt: Date;
  readonly endedAt?: Date;
  /** The delivery that the last page ended with. Absent before the first page. */
  readonly before?: DeliveryId;
  /** Deliveries that are posted again. A page that was repeated after a crash is counted once, or not at all. */
  readonly replayed: number;
  readonly expiresAt: Date;
}
