import type { Db } from 'mongodb';
import { countryOf } from '../carriers/routing/country.ts';
import type { Routes } from '../carriers/routing/store.ts';
import { routedOf } from '../carriers/routing/table.ts';
import { readSendingRules, type SendingRules } from '../money/accounts/store.ts';
import type { KeyCaps } from '../money/ledger/spending.ts';
import type { AcceptOutcome } from '../money/payment/accept.ts';
import { acceptOnce } from '../money/payment/accept-once.ts';
import type { FollowUp } from '../money/payment/follow-up.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';
import type { MessageDraft } from './document/draft.ts';
import { prefixOf } from './traffic/hold.ts';

export interface FollowOnDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly routes: Pick<Routes, 'table'>;
  readonly followUp: FollowUp;
}

/** `late`: its validity is over. `not_allowed`: the account may not send to this country, or to this prefix. */
export type FollowOnOutcome =
  | AcceptOutcome
  | { readonly kind: 'late' | 'entity_id_missing' | 'not_allowed' | 'no_route' };

/**
 * Pays for an SMS that follows from another message without a request: the answer to a customer's STOP, or what goes in place of a
 * chat-app message. Its id derives from that message, so it may be repeated by any process. Its sender, its template and its
 * recipient's opt-outs are asked when it leaves. Rejects with the store's error: then repeat it.
 */
export async function acceptFollowOn(
  { db, clock, routes, followUp }: FollowOnDeps,
  account: AccountId,
  sms: Omit<MessageDraft, 'path' | 'routed'>,
  caps: readonly KeyCaps[] = [],
): Promise<FollowOnOutcome> {
  if (sms.validUntil <= clock.now()) return { kind: 'late' };
  const rules = (await readSendingRules(db, [account])).get(account);
  // The account came under DLT after it was written.
  if (rules?.dlt === 'on' && sms.entityId === undefined) return { kind: 'entity_id_missing' };
  if (rules !== undefined && isBeyond(rules, sms.to)) return { kind: 'not_allowed' };
  const resolution = (await routes.table()).resolve({ ...sms, account });
  if (resolution.kind === 'no_route') return resolution;
  const { path, route } = resolution;
  const draft = { ...sms, path, ...(route === undefined ? {} : { routed: routedOf(route) }) };
  return acceptOnce({ db, clock, followUp }, account, draft, caps);
}

/** Whoever fakes traffic can make such messages too. So they go no farther than what the account sends itself. */
export function isBeyond({ countries, brake, heldPrefixes = [] }: SendingRules, to: string): boolean {
  if (countries !== undefined && !countries.includes(countryOf(to) ?? '')) return true;
  return brake === 'hold' && heldPrefixes.includes(prefixOf(to));
}
