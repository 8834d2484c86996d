import { QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { newId, type RequestId } from '../../../shared/platform/runtime/ids.ts';
import { ENCODINGS } from '../../../shared/platform/sheets/encoding.ts';
import { type ImportedCsv, importTemplateCsv } from '../../../shared/templates/sms/export/import-csv.ts';
import type { ReadFileJob } from '../../../shared/templates/sms/export/read-file.ts';
import type { ChangedField } from '../../../shared/templates/sms/template.ts';
import { ReadQueue } from '../../access/read-queue.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { boolean, choice, Fault, list, optional, required, string, withDefault } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { quotaProblem, quotaReached } from '../../http/quota-problem.ts';

/** Some 3,000 templates. */
const FILE_BYTES_MAX = 1_048_576;
/** Most templates that an answer lists, and most headers. */
const LISTED_MAX = 500;
const SENDERS_LISTED_MAX = 100;
/** Most ids that an entry of the audit names. */
const AUDITED_MAX = 100;

type Imported = Extract<ImportedCsv, { readonly kind: 'imported' }>;

/** A text of JSON is read in one go and must be short, so a file comes in pieces. */
const PIECE_MAX = 32_768;

const piece = string({ maxLength: PIECE_MAX }, (text) => {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return new Fault('invalid_value', 'It must be base64.');
  return text.length <= PIECE_MAX
    ? Buffer.from(text, 'base64')
    : new Fault('too_long', `A piece may have at most ${PIECE_MAX} characters.`);
});

export const IMPORT_TEMPLATES = request({
  file: required(
    list(piece, {
      description:
        "The operators' export: a CSV file of at most 1 MB. Cut its bytes into pieces of at most 24 KB, each in base64.",
      minItems: 1,
      maxItems: 100,
    }),
  ),
  encoding: optional(choice(ENCODINGS, 'The encoding of the file. UTF-8 and UTF-16 are detected.')),
  skip_bad: withDefault(boolean('Import the good rows although others are bad.'), false),
  update: withDefault(
    boolean(
      'Change the registered templates of which the file says something else (`changed`). A template that the file calls rejected, blacklisted or inactive is sent no more; any other change waits for an operator, and meanwhile the template is not sent.',
    ),
    false,
  ),
  dry_run: withDefault(boolean('Say what the import would do, and do nothing.'), false),
});

/**
 * POST /v2/account/templates/import (extension): asks for all templates of an operator's export. Whatever the file says of their
 * state, an operator of ours approves them.
 */
export function createImportTemplates(
  deps: Pick<GatewayDeps, 'db' | 'clock' | 'config' | 'threads'>,
): Action<RequestId> {
  const { db, clock, config, threads } = deps;
  // One file of an account at a time: whoever imports much waits for himself.
  const queue = new ReadQueue<ImportedCsv>();
  return {
    name: 'import-templates',
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const read = await readRequest(IMPORT_TEMPLATES, bodyOf(res), {
        account: caller.account,
        now: clock.now(),
        config,
      });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { file: pieces, encoding, skip_bad: skipBad, dry_run: dryRun, update } = whole(read);
      const file = Buffer.concat(pieces);
      if (file.length > FILE_BYTES_MAX) return { kind: 'refused', problem: tooLarge() };
      const options = { skipBad, dryRun, update, asRequests: true, ...(encoding === undefined ? {} : { encoding }) };
      const { _id: account } = caller.account;
      const readFile = (job: ReadFileJob) => threads.readTemplates(job);
      const work = () =>
        queue.run(account, id, () => importTemplateCsv(db, clock, caller.account, file, options, readFile));
      const imported = await (dryRun
        ? work()
        : changeAudited(deps, caller, {
            action: 'template.import',
            subject: { kind: 'account', id: account },
            read: async () => undefined,
            make: work,
            madeOf,
            isRefusal: (error) => error instanceof QuotaReached,
          })
      ).catch(quotaReached);
      if (imported instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(imported) };
      if (imported.kind === 'unreadable') return { kind: 'refused', problem: unreadable(imported.detail) };
      if (imported.kind === 'refused') return { kind: 'refused', problem: badRows(imported) };
      return {
        kind: dryRun ? 'dry_run' : 'accepted',
        body: { status: 'success', dry_run: dryRun, ...shown(imported) },
      };
    },
    /** Importing once more registers nothing twice. */
    async recover() {
      return undefined;
    },
  };
}

function madeOf(made: ImportedCsv): object {
  if (made.kind !== 'imported') return {};
  const { created, known, changed, updated } = made;
  const ids = changed.map(({ dltId }) => dltId);
  return {
    created: created.slice(0, AUDITED_MAX),
    created_count: created.length,
    known: known.length,
    updated,
    ...(updated > 0 ? { changed: ids } : {}),
  };
}

function shown({ created, known, changed, changedCount, updated, stillSent, problems, badRows, unusable }: Imported) {
  return {
    imported: created.length,
    known: known.length,
    templates: created.slice(0, LISTED_MAX),
    changed: changed.map(({ line, dltId, changes }) => ({
      line,
      template_id: dltId,
      changes: changes.map(({ field, ...both }) => ({ field: FIELD_NAMES[field], ...both })),
    })),
    changed_count: changedCount,
    updated,
    still_sent: stillSent.slice(0, LISTED_MAX),
    still_sent_count: stillSent.length,
    bad_rows: problems,
    bad_rows_count: badRows,
    unusable_senders: unusable.slice(0, SENDERS_LISTED_MAX),
    unusable_senders_count: unusable.length,
  };
}

const FIELD_NAMES: Readonly<Record<ChangedField, string>> = {
  ...{ status: 'status', content: 'content', senders: 'senders', routes: 'routes', entityId: 'entity_id' },
};

function tooLarge() {
  const problems = new FieldProblems();
  problems.add('file', 'too_long', `The file may have at most ${FILE_BYTES_MAX} bytes. Divide it.`);
  return invalidRequest(problems);
}

function unreadable(detail: string) {
  const problems = new FieldProblems();
  problems.add('file', 'invalid_value', detail);
  return invalidRequest(problems);
}

/** The problems beyond the first ones are only counted. */
function badRows({ problems: rows, badRows: count }: Pick<Imported, 'problems' | 'badRows'>) {
  const problems = new FieldProblems();
  for (const { line, detail } of rows) problems.add('file', 'invalid_value', `Line ${line}: ${detail}`);
  while (problems.count < count) problems.add('file', 'invalid_value', '');
  return invalidRequest(problems);
}
