import type { AuditDocument } from '../../shared/people/audit/entry.ts';
import { listEntries } from '../../shared/people/audit/list-entries.ts';
import { type AuditId, isAuditId } from '../../shared/platform/runtime/ids.ts';
import { type Command, defineCommand } from './command.ts';
import { accountId, instant, integer, optional, withDefault, words } from './parameters.ts';
import { table } from './show.ts';

const entryId = {
  value: 'ENTRY',
  form: 'an id like aud_01kam…, as `audit list` shows it',
  parse: (text: string): AuditId | undefined => (isAuditId(text) ? text : undefined),
};

export const AUDIT_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'audit',
    verb: 'list',
    about: 'Shows who changed what, newest first (--json: before and after too).',
    args: {},
    options: {
      account: optional(accountId, 'only changes of this account and its things'),
      subject: optional(
        words('KIND:ID', 'a thing like key:01kam… or carrier:acme', /^[a-z-]+:.+$/),
        'only of this thing',
      ),
      since: optional(instant, 'changes from this time on'),
      until: optional(instant, 'changes before this time'),
      limit: withDefault(integer('N', 1, 1_000), '50', 'most entries to show'),
      after: optional(entryId, 'continue after this entry, printed at the end of the page before'),
    },
    notes:
      'An entry is written before its change and completed after it. One that says `begun` may have been done: the command was\n' +
      'stopped in between. Look at the thing itself. All changes that a key makes within a minute are one entry, at the beginning of that minute.\n' +
      'Instead of a secret it shows a fingerprint, which changes with the secret. Entries are kept for AUDIT_DAYS.',
    async run({ account, subject, since, until, limit, after }, { db }) {
      const colon = subject?.indexOf(':') ?? -1;
      const query = {
        ...(account === undefined ? {} : { account }),
        ...(subject === undefined ? {} : { subject: { kind: subject.slice(0, colon), id: subject.slice(colon + 1) } }),
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
        ...(after === undefined ? {} : { after }),
      };
      const found = await listEntries(await db(), query, limit);
      const rows = found.map((one) => [
        one.at.toISOString(),
        one.outcome,
        one.action,
        one.subject.id ?? '-',
        whoOf(one),
        one.actor.address ?? '-',
        changedOf(one),
      ]);
      const lines = [table(['TIME', 'OUTCOME', 'CHANGE', 'OF', 'BY', 'FROM', 'MEMBERS'], rows, 'There are none.')];
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last !== undefined) lines.push(`There may be more: --after ${last._id}`);
      return { text: lines.join('\n'), json: found.map(({ _id, ...entry }) => ({ id: _id, ...entry })) };
    },
  }),
];

function whoOf({ actor, times = 1 }: AuditDocument): string {
  const who = `${actor.kind} ${actor.id}`;
  return times > 1 ? `${who} (${times} times)` : who;
}

/** Names of the fields that changed. */
function changedOf({ before, after }: AuditDocument): string {
  if (after === undefined) return '-';
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after)]);
  const changed = [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after[name]));
  return before === undefined ? 'new' : changed.join(', ') || 'none';
}
