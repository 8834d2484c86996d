import type { EntryOf } from '../../../../api/endpoint.ts';
import type { audit } from '../../../../endpoints/audit/audit.ts';
/** As `GET /v2/account/audit` shows it. */
export type AuditEntry = EntryOf<typeof audit>;

export function whoOf({ actor }: AuditEntry): string {
  if (actor.kind === 'ops') return 'your service provider';
  return actor.name ?? `${actor.kind} ${actor.id}`;
}

/** What is called how, in the stored forms of things. */
const NAMES = ['name', 'url', 'sender', 'username', 'number'] as const;

/** The changed thing by its name, as it was then; by its id when it has none. */
export function subjectOf({ subject, before, after }: AuditEntry): string {
  for (const state of [after, before]) {
    for (const member of NAMES) {
      const name = state?.[member];
      if (typeof name === 'string' && name !== '') return name;
    }
  }
  return (subject.id ?? subject.kind).replace(/:$/, '');
}

/** The fields that differ, in words. */
export function changesOf({ before, after }: AuditEntry) {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => ({ name, before: inWords(before?.[name]), after: inWords(after?.[name]) }))
    .filter((change) => change.before !== change.after);
}

function inWords(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
