import { QuotaReached } from '../../../shared/quotas/quotas.ts';
import { newId, type RequestId } from '../../../shared/runtime/ids.ts';
import { ENCODINGS } from '../../../shared/sheets/encoding.ts';
import { importTemplateCsv } from '../../../shared/templates/export/import-csv.ts';
import { boolean, choice, Fault, list, optional, required, string, withDefault } from '../../fields/field.ts';
import { readRequest, request, whole } from '../../fields/request.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import { FieldProblems, invalidRequest } from '../../http/fields.ts';
import { quotaProblem, quotaReached } from '../../http/quota-problem.ts';
import type { Action } from '../../idempotency/action.ts';
import { refusedLate } from '../../idempotency/refused-late.ts';
import type { GatewayDeps } from '../../process/deps.ts';

/** Some 3,000 templates. Reading them takes 50 ms of this process. */
const FILE_BYTES_MAX = 1_048_576;
/** Most bad rows that an answer lists. */
const LISTED_MAX = 500;

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
  dry_run: withDefault(boolean('Say what the import would do, and do nothing.'), false),
});

/**
 * POST /v2/account/templates/import (extension): asks for all templates of an operator's export. Whatever the file says of their
 * state, an operator of ours approves them.
 */
export function createImportTemplates(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Action<RequestId> {
  const { db, clock, config } = deps;
  return {
    name: 'import-templates',
    newId: () => newId('req', clock.now().getTime()),
    async act(res, { payBy }) {
      const caller = callerOf(res);
      const read = await readRequest(IMPORT_TEMPLATES, bodyOf(res), {
        account: caller.account,
        now: clock.now(),
        config,
      });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const { file: pieces, encoding, skip_bad: skipBad, dry_run: dryRun } = whole(read);
      const file = Buffer.concat(pieces);
      if (file.length > FILE_BYTES_MAX) return { kind: 'refused', problem: tooLarge() };
      const options = { skipBad, dryRun, asRequests: true, ...(encoding === undefined ? {} : { encoding }) };
      const account = caller.account._id;
      const work = () => importTemplateCsv(db, clock, account, file, options);
      const imported = await (dryRun
        ? work()
        : changeAudited(deps, caller, {
            action: 'template.import',
            subject: { kind: 'account', id: account },
            read: async () => undefined,
            make: work,
            madeOf: (made) => ('created' in made ? { created: made.created, known: made.known.length } : {}),
            isRefusal: (error) => error instanceof QuotaReached,
          })
      ).catch(quotaReached);
      if (imported instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(imported) };
      if (imported.kind === 'unreadable') return { kind: 'refused', problem: unreadable(imported.detail) };
      if (imported.kind === 'refused' && !dryRun) return { kind: 'refused', problem: badRows(imported.problems) };
      const { problems } = imported;
      const done = 'created' in imported ? imported : { created: [], known: [], unusable: [] };
      const body = {
        status: 'success',
        dry_run: dryRun,
        imported: done.created.length,
        known: done.known.length,
        templates: done.created.slice(0, LISTED_MAX),
        bad_rows: problems.slice(0, LISTED_MAX),
        bad_rows_count: problems.length,
        unusable_senders: done.unusable,
      };
      return { kind: dryRun ? 'dry_run' : 'accepted', body };
    },
    /** Importing once more registers nothing twice. */
    async recover() {
      return undefined;
    },
  };
}

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

function badRows(rows: readonly { readonly line: number; readonly detail: string }[]) {
  const problems = new FieldProblems();
  for (const { line, detail } of rows) problems.add('file', 'invalid_value', `Line ${line}: ${detail}`);
  return invalidRequest(problems);
}
