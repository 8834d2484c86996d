import { z } from 'zod';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { ENCODINGS } from '../../../shared/platform/sheets/parse.ts';
import type { ReadFileJob } from '../../../shared/templates/sms/csv.ts';
import { type ImportedCsv, importTemplateCsv } from '../../../shared/templates/sms/import-csv.ts';
import type { ChangedField } from '../../../shared/templates/sms/template.ts';
import { ReadQueue } from '../../access/costly-reads.ts';
import { done, endpoint, invalid, type Shown } from '../../api/endpoint.ts';
import { flag, success, text, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import { boolean, choice, Fault, list, optional, required, string, withDefault } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import type { Refused } from '../../http/idempotency/action.ts';

/** Imports an export of the operators' portals. Whatever state the file gives, our operators must approve. */

/** Some 3,000 templates. */
const FILE_BYTES_MAX = 1_048_576;
const LISTED_MAX = 500;
const SENDERS_LISTED_MAX = 100;
const AUDITED_MAX = 100;

type Imported = Extract<ImportedCsv, { readonly kind: 'imported' }>;

/** The file comes in pieces, because one JSON text is parsed in one go and must be short. */
const PIECE_MAX = 32_768;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const piece = string({ maxLength: PIECE_MAX, pattern: BASE64.source }, (text) => {
  if (!BASE64.test(text)) return new Fault('invalid_value', 'It must be base64.');
  return text.length <= PIECE_MAX
    ? Buffer.from(text, 'base64')
    : new Fault('too_long', `A piece may have at most ${PIECE_MAX} characters.`);
});

const FIELD_NAMES = {
  ...{ status: 'status', content: 'content', senders: 'senders', routes: 'routes', entityId: 'entity_id' },
} as const satisfies Readonly<Record<ChangedField, string>>;

const Line = whole('The line in the file, from 1.');

const TemplateImportAnswer = success('TemplateImportAnswer', {
  dry_run: flag(undefined, true),
  imported: whole('Templates that are new to the account.', { example: 1 }),
  known: whole('Templates that the account has already.'),
  templates: z
    .array(text())
    .meta({ description: 'The ids of the new ones, at most 500.', example: ['1107160000000012345'] }),
  changed: z
    .array(
      z.strictObject({
        line: Line,
        template_id: text(),
        changes: z.array(
          z.strictObject({
            field: z.enum(Object.values(FIELD_NAMES)),
            old: text('As it is registered. Empty when there is none.'),
            new: text(
              'As it becomes by `update`. A status is then `rejected` when the file says that the template may not be sent, and `submitted` when an operator has to approve it.',
            ),
          }),
        ),
      }),
    )
    .meta({
      description:
        'Templates that the account has already, and of which the file says something else; the first 100. They stay as they are, unless `update` changes them.',
      example: [],
    }),
  changed_count: whole(),
  updated: whole(
    'How many of them were changed. Fewer than `changed_count` with `update`: some changed meanwhile; import the file again.',
  ),
  still_sent: z.array(text()).meta({
    description:
      'Ids of templates that the file calls rejected, blacklisted or inactive, and that are sent nevertheless, because `update` is not given; at most 500.',
  }),
  still_sent_count: whole(),
  bad_rows: z
    .array(
      z.strictObject({
        line: Line.meta({ example: 3 }),
        detail: text(undefined, { example: 'id: "12" is not 10 to 20 digits.' }),
      }),
    )
    .meta({ description: 'Rows that are left out, at most 100.' }),
  bad_rows_count: whole(undefined, { example: 1 }),
  unusable_senders: z
    .array(
      z.strictObject({ sender: text(), rows: whole(), status: z.enum(['not registered', 'submitted', 'rejected']) }),
    )
    .meta({ description: 'Headers of the file that the account may not use (yet), at most 100.', example: [] }),
  unusable_senders_count: whole(),
});

export const importTemplates = endpoint({
  id: 'importTemplates',
  call: 'templates.importFile',
  method: 'post',
  path: '/v2/account/templates/import',
  tag: 'Account',
  summary: "Import an operators' export",
  description:
    'Extension. Asks for all templates of a CSV file of the DLT platform. `dry_run` shows first what would be done, with the bad rows by line. If a row is bad, nothing is imported, unless `skip_bad` leaves such rows out. An operator approves them, whatever the file says of their state. Templates that the account has already stay as they are: where the file says something else, `changed` has the old and the new, and `update` makes the change. Templates that nobody has approved are at most 200 (`quota_reached`): a file with more new ones is refused whole. An operator can import it.',
  scopes: ['manage'],
  bodyMax: 'bulk',
  body: request({
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
  }),
  answer: TemplateImportAnswer,
  problems: ['quota_reached'],
  examples: {
    body: {
      example: {
        file: ['aWQsaGVhZGVyLGNvbnRlbnQKMTEwNzE2MDAwMDAwMDAxMjM0NSxIQVJLUkEsQnllIHsjdmFyI30K'],
        dry_run: true,
      },
    },
  },
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action(deps) {
    const { db, clock, threads } = deps;
    // One file of an account at a time: an account with many imports delays only itself.
    const queue = new ReadQueue<ImportedCsv>();
    return {
      async act({ caller, body }, { id }) {
        const { file: pieces, encoding, skip_bad: skipBad, dry_run: dryRun, update } = body;
        const file = Buffer.concat(pieces);
        if (file.length > FILE_BYTES_MAX) {
          return badFile('too_long', `The file may have at most ${FILE_BYTES_MAX} bytes. Divide it.`);
        }
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
              make: work,
              madeOf,
            }));
        if (imported.kind === 'unreadable') return badFile('invalid_value', imported.detail);
        if (imported.kind === 'refused') return badRows(imported);
        return { kind: dryRun ? 'dry_run' : 'accepted', body: shown(imported, dryRun) };
      },
      /** Importing again registers nothing twice. */
      async recover() {
        return undefined;
      },
    };
  },
});

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

function shown(imported: Imported, dryRun: boolean): Shown<typeof TemplateImportAnswer> {
  const { created, known, changed, changedCount, updated, stillSent, problems, badRows, unusable } = imported;
  return done({
    dry_run: dryRun,
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
  });
}

function badFile(code: 'too_long' | 'invalid_value', detail: string): Refused {
  const problems = new FieldProblems();
  problems.add('file', code, detail);
  return invalid(problems);
}

function badRows({ problems: rows, badRows: count }: Pick<Imported, 'problems' | 'badRows'>): Refused {
  const problems = new FieldProblems();
  for (const { line, detail } of rows) problems.add('file', 'invalid_value', `Line ${line}: ${detail}`);
  while (problems.count < count) problems.add('file', 'invalid_value', '');
  return invalid(problems);
}
