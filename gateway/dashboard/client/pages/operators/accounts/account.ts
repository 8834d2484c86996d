import type { Tone } from '../../../parts/badge.tsx';

/** As `GET /v2/admin/accounts` shows it. */
export interface Account {
  readonly account_id: string;
  readonly name: string;
  readonly status: 'active' | 'paused' | 'suspended' | 'closed';
  readonly balance: number;
  readonly currency: string;
  readonly expiry_date: string;
  readonly created_at: string;
}

/** As `GET /v2/admin/accounts/{account_id}` shows it. */
export interface AccountDetail extends Account {
  readonly settings: {
    readonly senders: 'any' | 'registered';
    readonly dlt: 'on' | 'off';
    readonly entity_id: string | null;
    readonly number_check: 'off' | 'on' | 'mobile';
    readonly line_breaks: 'any' | 'exact';
    readonly country: string | null;
    readonly log: 'unusual' | 'all';
    readonly opt_out_exempt: readonly string[];
    readonly message_days: number | null;
    readonly message_texts: 'shown' | 'own' | 'hidden';
  };
  readonly closed: {
    readonly at: string;
    readonly reason: string;
    readonly remaining: 'paid_out' | 'forfeited';
    readonly settled_at: string | null;
    readonly erased_at: string | null;
  } | null;
  readonly missing_to_send: readonly ('entity_id' | 'sender' | 'template')[];
  readonly keys: { readonly active: number };
  readonly users: number;
  readonly senders: readonly { readonly sender: string; readonly status: string; readonly routes: readonly string[] }[];
  readonly chatapp: string | null;
}

export const STATUS_TONES: Readonly<Record<Account['status'], Tone>> = {
  active: 'good',
  paused: 'warn',
  suspended: 'bad',
  closed: 'plain',
};
