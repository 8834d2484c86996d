import type { Db } from 'mongodb';
import { countryOf } from '../carriers/routing/country.ts';
import type { Routes } from '../carriers/routing/store.ts';
import { routedOf } from '../carriers/routing/table.ts';
import { creditsOf } from '../money/accounts/prices.ts';
import { readSendingRules, type SendingRules } from '../money/accounts/store.ts';
import { chargesOf, type KeyCaps } from '../money/ledger/spending.ts';
import type { AcceptOutcome } from '../money/payment/accept.ts';
import { debitAgain } from '../money/payment/debit.ts';
import type { FollowUp } from '../money/payment/follow-up.ts';
import { REPEAT_MS } from '../platform/mongo/until-answered.ts';
import { type Clock, isoDate } from '../platform/runtime/clock.ts';
import { crashPoint } from '../platform/runtime/crash-point.ts';
import { type AccountId, ownGroupId } from '../platform/runtime/ids.ts';
import { within } from '../platform/runtime/within.ts';
import { type MessageDraft, queuedMessage } from './document/message.ts';
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
 * Pays for an SMS that follows from another message without a request: the answer to STOP, or what goes in place of a
 * chat-app message. Its id derives from that message, so any process may repeat it. Sender, template and opt-outs are
 * checked when it leaves. Rejects with the store's error: then repeat it.
 */
export async function acceptFollowOn(
  { db, clock, routes, followUp }: FollowOnDeps,
  account: AccountId,
  sms: Omit<MessageDraft, 'path' | 'routed'>,
  caps: readonly KeyCaps[] = [],
): Promise<FollowOnOutcome> {
  if (sms.validUntil <= clock.now()) return { kind: 'late' };
  const rules = (await readSendingRules(db, [account])).get(account);
  // The account came under DLT after the SMS was written.
  if (rules?.dlt === 'on' && sms.entityId === undefined) return { kind: 'entity_id_missing' };
  if (rules !== undefined && isBeyond(rules, sms.to)) return { kind: 'not_allowed' };
  const resolution = (await routes.table()).resolve({ ...sms, account });
  if (resolution.kind === 'no_route') return resolution;
  const { path, route } = resolution;
  const draft = { ...sms, path, ...(route === undefined ? {} : { routed: routedOf(route) }) };
  return acceptOnce({ db, clock, followUp }, account, draft, caps);
}

/** Fake traffic can cause such messages too, so they go no farther than the account's own sends. */
export function isBeyond({ countries, brake, heldPrefixes = [] }: SendingRules, to: string): boolean {
  if (countries !== undefined && !countries.includes(countryOf(to) ?? '')) return true;
  return brake === 'hold' && heldPrefixes.includes(prefixOf(to));
}

/**
 * Accepts a message whose id is derived. Any process may repeat it, after a crash or at the same time; it is paid for
 * and stored once: the debit's id derives from the message's, and each try checks whether that debit was made, is
 * pending, or is in the ledger. Costs more commands than `accept.ts`. `caps`: of the keys that it counts for. Throws
 * the store's error: the message may be accepted then, and the next try finds out.
 */
export async function acceptOnce(
  { db, clock, followUp }: { readonly db: Db; readonly clock: Clock; readonly followUp: FollowUp },
  account: AccountId,
  draft: MessageDraft,
  caps: readonly KeyCaps[] = [],
): Promise<AcceptOutcome> {
  const group = ownGroupId(draft._id);
  const messages = [queuedMessage(account, group, draft)];
  const keys = chargesOf([{ caps, amount: creditsOf(draft) }]);
  const request = { account, group, messages, today: isoDate(clock.now()), done: [], keys };
  const debit = await debitAgain(db, request);
  if (debit.kind === 'unknown') return { kind: 'outcome_unknown' };
  if (debit.kind === 'refused') return debit.why;
  crashPoint('accept:debited');
  // Another process may be doing the same, or may have done it.
  await within(REPEAT_MS, followUp.store([{ ...request, first: false }]));
  return { kind: 'accepted', credits: creditsOf(draft) };
}
