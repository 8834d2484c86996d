import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { homeOf } from '../../../shared/money/accounts/number-check.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';

/** `paused`: its sends are accepted and wait. */
export function accountStatus({ status, held }: AccountDocument): 'active' | 'paused' | 'suspended' {
  return status === 'active' && held === true ? 'paused' : status;
}

export function accountRecord(account: AccountDocument) {
  return {
    account_id: account._id,
    name: account.name,
    status: accountStatus(account),
    balance: account.balance,
    currency: account.currency,
    expiry_date: account.expiryDate,
    created_at: isoTimestamp(account.createdAt),
  };
}

export function accountSettings(account: AccountDocument) {
  return {
    senders: account.senders,
    dlt: account.dlt ?? 'off',
    entity_id: account.entityId ?? null,
    number_check: account.numberCheck ?? 'off',
    country: homeOf(account) ?? null,
    line_breaks: account.lineBreaks ?? 'any',
    log: account.log ?? 'unusual',
    opt_out_exempt: account.optOutExempt ?? [],
  };
}
