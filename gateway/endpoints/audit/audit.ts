import { z } from 'zod';
import type { AuditDocument } from '../../../shared/people/audit.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isAuditId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { named, pageShape, text, whole } from '../../api/shapes.ts';
import { Fault, type Kind, optional, string } from '../../http/fields/field.ts';
import { cursorOf, limit, pageOf, pageOfFound, queryTime, readsPer } from '../../http/fields/query.ts';
import { accountId } from '../operators/fields.ts';
import { AUDIT_KINDS, type AuditActor, listEntries, listOwnEntries, peopleNames, shownKind } from './list-entries.ts';

const ACTOR_KINDS = ['ops', 'key', 'user'] as const;

const AuditEntry = named('AuditEntry', 'Something that was changed, by whom and when.', {
  audit_id: text(undefined, { pattern: '^aud_[0-9a-z]{26}$', example: 'aud_01m7znjn7hdb5pft3awkb6pgvz' }),
  at: text(undefined, { format: 'date-time', example: '2026-11-22T10:00:00+00:00' }),
  actor: z
    .strictObject({
      kind: z.enum(['ops', 'key', 'user']).meta({ description: '`ops`: your service provider.', example: 'user' }),
      id: text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' }).nullable(),
      name: text('Name of the user or key.', { example: 'Asha' }).nullable(),
      address: text('Where the change came from.', { example: '203.0.113.7' }).nullable(),
    })
    .meta({ description: 'Who changed it.' }),
  action: text('What was done: `<kind of thing>.<verb>`.', { example: 'key.update' }),
  subject: z
    .strictObject({
      kind: text(undefined, { example: 'key' }),
      id: text(undefined, { example: '01m7znjn7hdb5pft3awkb6pgvz' }).nullable(),
    })
    .meta({ description: 'What was changed.' }),
  outcome: z.enum(['begun', 'done', 'failed']).meta({
    description: '`begun`: perhaps done, because the process stopped in between; the thing itself shows.',
    example: 'done',
  }),
  times: whole('How often it was done within its minute.', { example: 1 }),
  before: z
    .record(z.string(), z.unknown())
    .meta({
      description: 'The thing before the change, without secrets. Null: there was none.',
      example: { name: 'shop server', scopes: ['send'] },
    })
    .nullable(),
  after: z
    .record(z.string(), z.unknown())
    .meta({
      description: 'The thing after the change. Null: it is not known, or gone.',
      example: { name: 'shop server', scopes: ['send', 'read'] },
    })
    .nullable(),
});

const actor: Kind<AuditActor> = string(
  {
    description: 'Who: `ops`, `key`, `user`, or one of them, such as `key:01kam…`.',
    pattern: '^(ops|(key|user)(:[^:].*)?)$',
  },
  (text) => {
    const [name = '', id] = text.split(':', 2);
    const kind = ACTOR_KINDS.find((one) => one === name);
    if (kind !== undefined && id !== '' && !(kind === 'ops' && id !== undefined)) return { kind, id };
    return new Fault('invalid_value', 'It must be ops, key or user, or one key or user: key:01kam….');
  },
);

const SUBJECT = {
  description: 'What: a kind, a colon and an id, such as `webhook:whk_…`.',
  pattern: `^(${AUDIT_KINDS.join('|')}):.+$`,
};

const subject = string(SUBJECT, (text) => {
  const colon = text.indexOf(':');
  const kind = AUDIT_KINDS.find((one) => one === text.slice(0, colon));
  const id = text.slice(colon + 1);
  if (kind !== undefined && id !== '') return { kind, id };
  const detail = `It must be a kind, a colon and an id: key:01kam…. The kinds are ${AUDIT_KINDS.join(', ')}.`;
  return new Fault('invalid_value', detail);
});

export const audit = endpoint({
  id: 'audit',
  call: 'audit.list',
  method: 'get',
  path: '/v2/account/audit',
  tag: 'Account',
  summary: 'Who changed what',
  description:
    "Extension. Changes of the account's settings by users, keys and your service provider, newest first, without secrets. A page counts as one request for each 50 of `limit`.",
  scopes: ['manage', 'admin:look'],
  query: {
    actor: optional(actor),
    subject: optional(subject),
    since: optional(queryTime('Changes from this time on.')),
    until: optional(queryTime('Changes before this time.')),
    limit,
    cursor: cursorOf('audit', isAuditId),
  },
  reads: readsPer(50),
  answer: pageShape('AuditPage', AuditEntry, 'Changes, newest first.'),
  async handle({ db }, { caller, query: { actor, limit, cursor, ...filter } }) {
    const wanted = { account: caller.account._id, ...filter, ...(cursor && { after: cursor }) };
    const { entries, next } = await listOwnEntries(db, wanted, actor, limit);
    const keys = entries.filter(({ actor }) => shownKind(actor) === 'key').map(({ actor }) => `key ${actor.id}`);
    const names = await peopleNames(db, keys);
    const records = entries.map((entry) => entryRecord(entry, shownActor(entry, names)));
    return pageOf('audit', records, next);
  },
});

/** Operators are shown as `ops` only, without name, machine or address. */
function shownActor({ actor }: AuditDocument, names: ReadonlyMap<string, string>): Actor {
  const { id, name = names.get(`key ${id}`) ?? null, address = null } = actor;
  const kind = shownKind(actor);
  return kind === 'ops' ? { kind, id: null, name: null, address: null } : { kind, id, name, address };
}

type Actor = Shown<typeof AuditEntry>['actor'];

/** The outcome `begun` means perhaps done: the process stopped in between. */
function entryRecord(entry: AuditDocument, actor: Actor): Shown<typeof AuditEntry> {
  const { _id, at, action, subject, outcome, before = null, after = null, times = 1 } = entry;
  return {
    ...{ audit_id: _id, at: isoTimestamp(at), actor, action },
    subject: { kind: subject.kind, id: subject.id ?? null },
    ...{ outcome, times, before, after },
  };
}

const OperatorAuditEntry = named('OperatorAuditEntry', 'Something that was changed in any account, by whom and when.', {
  ...AuditEntry.shape,
  account_id: text().nullable(),
});

const ANY_SUBJECT = /^([a-z-]+):(.{1,200})$/;

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
      string({ description: 'Only of this thing: `carrier:airtel`.', pattern: ANY_SUBJECT.source }, (text) => {
        const [, kind, id] = ANY_SUBJECT.exec(text) ?? [];
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
    const people = found.map(({ actor }) => `${actor.kind} ${actor.id}`);
    const names = await peopleNames(db, people);
    return pageOfFound('audit', found, limit, (entry) => {
      const { kind, id, name = names.get(`${kind} ${id}`) ?? null, address = null } = entry.actor;
      return { ...entryRecord(entry, { kind, id, name, address }), account_id: entry.account ?? null };
    });
  },
});
