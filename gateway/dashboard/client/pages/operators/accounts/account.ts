import type { AnswerOf, EntryOf } from '../../../../../api/endpoint.ts';
import type { changeAccount, listAccounts, showAccount } from '../../../../../endpoints/accounts/accounts.ts';
import type { Tone } from '../../../parts/badge.tsx';

/** As `GET /v2/admin/accounts` shows it. */
export type Account = EntryOf<typeof listAccounts>;

/** As `GET /v2/admin/accounts/{account_id}` shows it. */
export type AccountDetail = AnswerOf<typeof showAccount>;

/** The answer to each change of one. */
export type ChangedAccount = AnswerOf<typeof changeAccount>;

export const STATUS_TONES: Readonly<Record<Account['status'], Tone>> = {
  active: 'good',
  paused: 'warn',
  suspended: 'bad',
  closed: 'plain',
};
