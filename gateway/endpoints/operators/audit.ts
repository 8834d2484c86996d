import { z } from 'zod';
import type { AuditDocument } from '../../../shared/people/audit/entry.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isAuditId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, time, whole } from '../../api/shapes.ts';
import { Fault, optional, string } from '../../http/fields/field.ts';
import { cursorOf, limit, queryTime } from '../../http/fields/query.ts';
import { pageOfFound } from '../../http/page.ts';
import { listEntries } from '../audit/list-entries.ts';
import { peopleNames } from '../audit/people-names.ts';
import { accountId } from './fields.ts';

const Thing = z.record(z.string(), z.unknown());

const OperatorAuditEntry = named('OperatorAuditEntry', 'Something that was changed in any account, by whom and when.', {
  audit_id: text(undefined, { example: 'aud_01m7znjn7hdb5pft3awkb6pgvz' }),
  at: time(undefined, '2026-11-22T13:00:00+00:00'),
  actor: z.strictObject({
    kind: z.enum(['ops', 'key', 'user']).meta({ example: 'user' }),
    id: text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' }),
    name: text(undefined, { example: 'asha@example.com' }).nullable(),
    address: text(undefined, { example: '203.0.113.7' }).nullable(),
  }),
  action: text(undefined, { example: 'carrier.pause' }),
  subject: z.strictObject({
    kind: text(undefined, { example: 'carrier' }),
    id: text(undefined, { example: 'airtel' }).nullable(),
  }),
  account_id: text().nullable(),
  outcome: z
    .enum(['begun', 'done', 'failed'])
    .meta({ description: '`begun`: it may have been done; look at the thing itself.', example: 'done' }),
  times: whole('How often within the minute.', { example: 1 }),
  before: Thing.meta({ example: { status: 'active' } }).nullable(),
  after: Thing.meta({ example: { status: 'paused' } }).nullable(),
});

/** Every filter uses an index: by account, by thing, or by time. */
const SUBJECT = /^([a-z-]+):(.{1,200})$/;

export const auditOfAll = endpoint({
  id: 'operatorAudit',
  method: 'get',
  path: '/v2/admin/audit',
  tag: 'Operators',
  summary: 'Who changed what',
  description:
    'Extension. Changes of all accounts and of what belongs to none, newest first. Secrets are shown as fingerprints.',
  scopes: ['admin:read'],
  query: {
    account_id: optional(accountId('Only of this account and its things.')),
    subject: optional(
      string({ description: 'Only of this thing: `carrier:airtel`.', pattern: SUBJECT.source }, (text) => {
        const [, kind, id] = SUBJECT.exec(text) ?? [];
        if (kind !== undefined && id !== undefined) return { kind, id };
        return new Fault('invalid_value', 'It must be a kind and an id, like carrier:airtel or key:01kam….');
      }),
    ),
    since: optional(queryTime('Changes from this time on.')),
    until: optional(queryTime('Changes before this time.')),
    limit,
    cursor: cursorOf('audit', isAuditId),
  },
  answer: pageShape('OperatorAuditPage', OperatorAuditEntry),
  async handle({ db }, { query: { account_id: account, subject, since, until, limit, cursor: after } }) {
    const found = await listEntries(db, defined({ account, subject, since, until, after }), limit + 1);
    const names = await peopleNames(
      db,
      found.map(({ actor }) => `${actor.kind} ${actor.id}`),
    );
    return pageOfFound('audit', found, limit, (entry) => entryRecord(entry, names));
  },
});

function entryRecord(entry: AuditDocument, names: ReadonlyMap<string, string>): Shown<typeof OperatorAuditEntry> {
  const { actor, subject } = entry;
  return {
    audit_id: entry._id,
    at: isoTimestamp(entry.at),
    actor: {
      kind: actor.kind,
      id: actor.id,
      name: actor.name ?? names.get(`${actor.kind} ${actor.id}`) ?? null,
      address: actor.address ?? null,
    },
    action: entry.action,
    subject: { kind: subject.kind, id: subject.id ?? null },
    account_id: entry.account ?? null,
    outcome: entry.outcome,
    times: entry.times ?? 1,
    before: entry.before ?? null,
    after: entry.after ?? null,
  };
}
