import type { Tone } from '../../parts/badge.tsx';

/** As `GET /v2/account/templates` shows it. */
export interface Template {
  readonly template_id: string;
  readonly dlt_id: string | null;
  readonly name: string;
  readonly state: 'requested' | 'submitted' | 'approved' | 'rejected';
  readonly reason: string | null;
  readonly paused: boolean;
  readonly senders: readonly string[];
  readonly routes: readonly string[];
  readonly category: string | null;
  readonly content: string;
  readonly entity_id: string | null;
  readonly requested_at: string;
  readonly decided_at: string | null;
}

/** What `POST /v2/account/templates/check` says of a text. */
export interface TemplateCheck {
  readonly characters: number;
  readonly slots: readonly { readonly type: string; readonly takes: string; readonly longest: number }[];
  readonly encoding: string;
  readonly segments: { readonly shortest: number; readonly longest: number };
  readonly problems: readonly { readonly at: number; readonly detail: string }[];
}

/** What `POST /v2/account/templates/import` would do, or has done. */
export interface TemplateImport {
  readonly imported: number;
  readonly known: number;
  readonly templates: readonly string[];
  readonly bad_rows: readonly { readonly line: number; readonly detail: string }[];
  readonly bad_rows_count: number;
  readonly unusable_senders: readonly { readonly sender: string; readonly rows: number; readonly status: string }[];
  /** Registered templates of which the file says something else; the first ones, and how many. */
  readonly changed: readonly TemplateDifference[];
  readonly changed_count: number;
  readonly updated: number;
  /** What the DLT platform allows no more is sent until it is updated. */
  readonly still_sent_count: number;
}

export interface TemplateDifference {
  readonly line: number;
  readonly template_id: string;
  readonly changes: readonly { readonly field: string; readonly old: string; readonly new: string }[];
}

export const STATE_WORDS: Readonly<Record<Template['state'], readonly [words: string, tone: Tone]>> = {
  requested: ['Waits for its DLT id', 'warn'],
  submitted: ['In review', 'info'],
  approved: ['Approved', 'good'],
  rejected: ['Rejected', 'bad'],
};

export const CATEGORIES = [
  ['service_implicit', 'Service implicit'],
  ['service_explicit', 'Service explicit'],
  ['transactional', 'Transactional (banks)'],
  ['promotional', 'Promotional'],
] as const;

export const STATES = Object.entries(STATE_WORDS).map(([state, [words]]) => [state, words] as const);
export const TEMPLATES_PATH = '/v2/account/templates';

export const TABS = [
  { href: '/dashboard/templates', label: 'SMS (DLT)' },
  { href: '/dashboard/templates/chatapp', label: 'Chat-app' },
] as const;
