import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { importTemplates } from '../../../../endpoints/account-templates/import.ts';
import type { accountTemplates, checkTemplate } from '../../../../endpoints/account-templates/templates.ts';
import { Badge, type Tone } from '../../parts/value.tsx';

/** As `GET /v2/account/templates` shows it. */
export type Template = EntryOf<typeof accountTemplates>;

/** What `POST /v2/account/templates/check` says of a text. */
export type TemplateCheck = AnswerOf<typeof checkTemplate>;

/** What `POST /v2/account/templates/import` would do, or has done. */
export type TemplateImport = AnswerOf<typeof importTemplates>;

const STATE_WORDS: Readonly<Record<Template['state'], readonly [words: string, tone: Tone]>> = {
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
export const UNTAGGED_PATH = '/v2/account/untagged-templates';

export const TABS = [
  { href: '/dashboard/templates', label: 'SMS (DLT)' },
  { href: '/dashboard/templates/chatapp', label: 'Chat-app' },
] as const;

export function TemplateState({ of }: { readonly of: Template }) {
  const [words, tone] = STATE_WORDS[of.state];
  return (
    <>
      <Badge tone={tone}>{words}</Badge>
      {of.paused && <Badge tone="warn">Paused</Badge>}
      {of.reason !== null && <span class="state-note">{of.reason}</span>}
    </>
  );
}
