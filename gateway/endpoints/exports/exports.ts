import { z } from 'zod';
import { removeExport } from '../../../shared/messages/export-store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime, isExportId, newId } from '../../../shared/platform/runtime/ids.ts';
import { maskNumbers } from '../../../shared/platform/runtime/log.ts';
import { pageAccount, pageMode, pageUser, refusesOther } from '../../access/page-query.ts';
import { scopeMissing } from '../../access/scopes.ts';
import { CSV_COST, CSV_PROBLEMS, csvAnswer, sendCsv } from '../../api/csv.ts';
import { done, endpoint, refused, type Shown } from '../../api/endpoint.ts';
import { decimal, flag, id, named, success, time, whole } from '../../api/shapes.ts';
import { sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import type { Values } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { MESSAGE_FILTER, messageFilter, withCountryCode } from '../messages/messages.ts';
import { type ExportDocument, exportFile, exportsIn, findExport, insertExport, listExports } from './run.ts';

/** Files of messages: made in the background, kept for a day. */

const ExportIdText = id('exp', 'Id of the export.', 'exp_01m7znjn7hdb5pft3awkb6pgvz');

const Export = named('Export', {
  export_id: ExportIdText,
  state: z.enum(['running', 'done', 'failed']).meta({ description: '`failed`: ask again.' }),
  progress: decimal('The part of the time that was looked through, from 0 to 1.', {
    minimum: 0,
    maximum: 1,
    example: 0.4,
  }),
  rows: whole('Messages that are in the file so far.', { minimum: 0, example: 12_000 }),
  complete: flag('False when there were more than 500,000: ask for the others with a `created_before`.', true),
  created_before: time('What was accepted from here on is not in it.', '2026-11-21T10:05:00+00:00'),
  started_at: time(undefined, '2026-11-21T10:05:00+00:00'),
  expires_at: time('When it is removed.', '2026-11-22T10:05:00+00:00'),
  may_remove: flag('You may remove it: you asked for it, or have `manage`.', true),
});

const IN_PATH = { export_id: ExportIdText };

export const startExport = endpoint({
  id: 'startExport',
  call: 'exports.start',
  method: 'post',
  path: '/v2/account/exports',
  tag: 'Reading back',
  summary: 'Ask for a file of messages',
  description:
    'Extension. Begins to write the messages that fit into a CSV file, newest first, 500,000 at most; without their texts. It goes on in the background and is kept for a day. An account may have 3 at a time. Counts as 20 requests.',
  scopes: ['read'],
  test: 'apart',
  costs: CSV_COST,
  body: request(MESSAGE_FILTER),
  answer: success('StartedExport', Export.shape),
  problems: ['quota_reached'],
  examples: { body: { failed: { state: 'failed', created_from: '2026-11-01T00:00:00+05:30' } } },
  newId: ({ clock }) => newId('exp', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body }, { id }) {
      const filter = withCountryCode(messageFilter(body), caller.account);
      const begun = await changeAudited(deps, caller, {
        ...{ action: 'messages.export', subject: { kind: 'export', id } },
        make: () => insertExport(deps, caller.account._id, { _id: id, by: byOf(caller), filter }),
        madeOf: () => asAudited(body),
      });
      exportsIn(deps).run(begun);
      return { kind: 'accepted', body: done(exportRecord(begun, true)) };
    },
    async recover(account, id) {
      const begun = await findExport(deps.db, account, id);
      return begun && { kind: 'accepted', body: done(exportRecord(begun, true)) };
    },
  }),
});

export const exportList = endpoint({
  id: 'exports',
  call: 'exports.list',
  method: 'get',
  path: '/v2/account/exports',
  tag: 'Reading back',
  summary: 'Files of messages',
  description: 'Extension. All that are kept, the newest first.',
  scopes: ['read'],
  test: 'apart',
  answer: named('Exports', { exports: z.array(Export) }),
  async handle(gateway, { caller }) {
    const found = await listExports(gateway.db, caller.account._id);
    for (const one of found) exportsIn(gateway).look(one);
    return { exports: found.map((one) => exportRecord(one, mayRemove(caller, one))) };
  },
});

export const showExport = endpoint({
  id: 'showExport',
  call: 'exports.get',
  method: 'get',
  path: '/v2/account/exports/{export_id}',
  tag: 'Reading back',
  summary: 'How far a file is',
  description: 'Extension.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  answer: Export,
  problems: ['export_not_found'],
  async handle(gateway, { caller, params }) {
    const id = params.export_id;
    const found = isExportId(id) ? await findExport(gateway.db, caller.account._id, id) : undefined;
    if (found === undefined) return refused('export_not_found');
    exportsIn(gateway).look(found);
    return exportRecord(found, mayRemove(caller, found));
  },
});

export const dropExport = endpoint({
  id: 'removeExport',
  call: 'exports.remove',
  method: 'delete',
  path: '/v2/account/exports/{export_id}',
  tag: 'Reading back',
  summary: 'Remove a file',
  description:
    'Extension. Makes room for another one; one that is being made is given up. Who asked for it may remove it, and who has `manage`.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  answer: success('RemovedExport', { export_id: ExportIdText }),
  problems: ['export_not_found'],
  async handle({ db }, { caller, params: { export_id: id } }) {
    const account = caller.account._id;
    const found = isExportId(id) ? await findExport(db, account, id) : undefined;
    if (found === undefined) return refused('export_not_found');
    if (!mayRemove(caller, found)) {
      return { kind: 'refused', problem: scopeMissing(caller.who, caller.scopes, ['manage']) };
    }
    await removeExport(db, account, found._id);
    return done({ export_id: found._id });
  },
});

export const exportCsv = endpoint({
  id: 'exportFile',
  call: 'exports.file',
  method: 'get',
  path: '/v2/account/exports/{export_id}/file',
  tag: 'Reading back',
  summary: 'Download a file of messages',
  description:
    'Extension. CSV (RFC 4180), when the export is `done`. Texts that a spreadsheet would take for a formula begin with an apostrophe. Counts as 20 requests; an account may download 4 such files at a time from each gateway process.',
  scopes: ['read'],
  test: 'apart',
  params: IN_PATH,
  query: { user: pageUser('link'), account: pageAccount(), mode: pageMode() },
  problems: ['export_not_found', 'export_not_ready', ...CSV_PROBLEMS],
  openapi: csvAnswer(
    'message_id,created_at,channel,direction,to\r\nmsg_01m7znjn7hdb5pft3awkb6pgvz,2026-11-21T10:00:00+00:00,sms,out,919876543210\r\n',
  ),
  async stream(gateway, { caller, params: { export_id: id }, query: { user } }, res) {
    if (refusesOther(res, user)) return;
    const { db } = gateway;
    const found = isExportId(id) ? await findExport(db, caller.account._id, id) : undefined;
    if (found === undefined) return sendProblem(res, 'export_not_found');
    if (found.state !== 'done') return sendProblem(res, 'export_not_ready');
    const name = `messages-${isoTimestamp(found.until).slice(0, 10)}.csv`;
    await sendCsv(gateway, res, name, () => exportFile(db, found));
  },
});

function byOf({ who }: Pick<Requester, 'who'>): string {
  return `${who.kind} ${who.id}`;
}

function mayRemove(caller: Pick<Requester, 'who' | 'scopes'>, { by }: ExportDocument): boolean {
  return by === byOf(caller) || caller.scopes.includes('manage');
}

/** The audit keeps no numbers. */
function asAudited(body: Values<typeof MESSAGE_FILTER>): object {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? maskNumbers(value) : value]),
  );
}

function exportRecord(found: ExportDocument, mayRemove: boolean): Shown<typeof Export> {
  const { _id, state, from, until, cursor, rows, cut, expiresAt } = found;
  const whole = until.getTime() - from.getTime();
  const looked = cursor === undefined ? 0 : until.getTime() - idTime(cursor).getTime();
  const progress = state === 'done' || whole <= 0 ? 1 : Math.min(1, Math.max(0, looked / whole));
  return {
    export_id: _id,
    ...{ state, progress: Math.round(progress * 100) / 100, rows, complete: cut === undefined },
    created_before: isoTimestamp(until),
    started_at: isoTimestamp(idTime(_id)),
    expires_at: isoTimestamp(expiresAt),
    may_remove: mayRemove,
  };
}
