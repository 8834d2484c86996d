import { CTA_MAX, homeOfCtas, readCta } from '../../../shared/carriers/cta.ts';
import { QUOTAS } from '../../../shared/money/accounts/quotas.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { isBlank, wordOf } from '../../../shared/platform/sheets/cell.ts';
import { parseSheet, TITLE_ROWS_MAX } from '../../../shared/platform/sheets/parse.ts';
import { done, endpoint, invalid, type Shown } from '../../api/endpoint.ts';
import { flag, success, whole } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { Requester } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { boolean, required, string, withDefault } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { ACCOUNT_REFUSALS, openAccountOf } from '../accounts/account.ts';
import { ACCOUNT_IN_PATH } from '../operators/fields.ts';
import { type Giver, type ImportedCtas, importCtas, type NewCta } from '../sms/ctas/cta-store.ts';

/** Imports a file of links and numbers: an account asks for them; an operator's import approves them. */

const LIMITS = { rows: QUOTAS.ctas + TITLE_ROWS_MAX, columns: 50, cell: 2 * CTA_MAX } as const;
const HEADS: ReadonlySet<string> = new Set([
  ...['value', 'cta', 'cta input', 'cta value', 'cta url', 'url', 'urls', 'link', 'links', 'number', 'cta number'],
  ...['callback number', 'whitelisted url', 'url/number'],
]);

const FILE = {
  csv: required(
    string(
      {
        description:
          'The text of a CSV file. The column `value` (also `CTA Input`, `URL`, `number`), or the first one, has the links and numbers; others are left out. A body has 64 KB at most: import a longer file in parts.',
        minLength: 1,
      },
      (text) => text,
    ),
  ),
  dry_run: withDefault(boolean('Say what the import would do, and do nothing.'), false),
};

const ImportedShape = success('CtaImportAnswer', {
  dry_run: flag(undefined, false),
  imported: whole('New to the account.', { example: 2 }),
  known: whole('The account has them already.'),
  approved: whole('Those of them that waited or were rejected, and are approved by it: of operators alone.'),
});

/** The file's links and numbers, each once. Undefined when a line is wrong; `problems` then lists all wrong lines. */
async function readCtaCsv(text: string, home: string, problems: FieldProblems): Promise<readonly NewCta[] | undefined> {
  const before = problems.count;
  const { rows, fault } = parseSheet(text, LIMITS, (cells) => (headOf(cells) === -1 ? 0 : 1));
  if (fault !== undefined) return problems.add('csv', 'invalid_value', fault);
  const head = rows.slice(0, TITLE_ROWS_MAX + 1).findIndex(({ cells }) => headOf(cells) !== -1);
  const column = head === -1 ? 0 : headOf(rows[head]?.cells ?? []);
  const found = new Map<string, NewCta>();
  await inSlices(rows.slice(head + 1), ({ line, cells }) => {
    const cell = cells[column] ?? '';
    if (isBlank(cell)) return;
    const read = readCta(wordOf(cell).text, home);
    if (read.kind === 'fault') problems.add('csv', 'invalid_value', `Line ${line}: ${read.detail}`);
    else found.set(read.value, read);
  });
  if (problems.count > before) return undefined;
  return found.size === 0 ? problems.add('csv', 'invalid_value', 'It has no link and no number.') : [...found.values()];
}

function headOf(cells: readonly string[]): number {
  return cells.findIndex((cell) => HEADS.has(wordOf(cell).text.toLowerCase()));
}

interface Import {
  readonly giver: Giver;
  readonly given: readonly NewCta[];
  readonly dryRun: boolean;
}

/** Records it in the audit. A file that there is no room for is refused as a whole. */
async function doImport(
  deps: GatewayDeps,
  requester: Requester,
  { giver, given, dryRun }: Import,
): Promise<Shown<typeof ImportedShape>> {
  const { db, clock } = deps;
  const work = () => importCtas(db, clock, giver, given, dryRun);
  const { created, known, approved }: ImportedCtas = await (dryRun
    ? work()
    : changeAudited(deps, requester, {
        action: 'cta.import',
        subject: { kind: 'account', id: giver.account },
        account: giver.account,
        make: work,
        madeOf: (done) => done,
      }));
  return done({ dry_run: dryRun, imported: created, known, approved });
}

const EXAMPLES = { body: { example: { csv: 'value\nhttps://acme.in/offers\n1800 123 4567\n', dry_run: true } } };

export const importOwnCtas = endpoint({
  id: 'importCtas',
  call: 'ctas.importFile',
  method: 'post',
  path: '/v2/account/ctas/import',
  tag: 'Account',
  summary: 'Register a file of links and numbers',
  description:
    'Extension. Asks for all that a CSV file has; an operator approves them. A line that is wrong refuses the file, with its number. What the account has already stays as it is. `dry_run` says first what would be done.',
  scopes: ['manage'],
  body: request(FILE),
  answer: ImportedShape,
  problems: ['quota_reached'],
  examples: EXAMPLES,
  newId: ({ clock }) => newId('req', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body: { csv, dry_run: dryRun }, read: { problems } }) {
      const given = await readCtaCsv(csv, homeOfCtas(caller.account), problems);
      if (given === undefined) return invalid(problems);
      const giver = { account: caller.account._id, requested: true };
      const body = await doImport(deps, caller, { giver, given, dryRun });
      return { kind: dryRun ? 'dry_run' : 'accepted', body };
    },
    /** Importing again registers nothing twice. */
    async recover() {
      return undefined;
    },
  }),
});

export const importCtasFor = endpoint({
  id: 'importCtasFor',
  method: 'post',
  path: '/v2/admin/accounts/{account_id}/ctas/import',
  tag: 'Operators',
  summary: 'Register a file of links and numbers for an account',
  description:
    'Extension. All that a CSV file has is approved, also what the account asked for. It counts within seconds; nobody is told.',
  scopes: ['admin:support'],
  params: ACCOUNT_IN_PATH,
  body: request(FILE),
  answer: ImportedShape,
  problems: [...ACCOUNT_REFUSALS, 'quota_reached'],
  examples: EXAMPLES,
  async handle(deps, { requester, params, body: { csv, dry_run: dryRun }, read: { problems } }) {
    const account = await openAccountOf(deps.db, params.account_id);
    if ('kind' in account) return account;
    const given = await readCtaCsv(csv, homeOfCtas(account), problems);
    if (given === undefined) return invalid(problems);
    return doImport(deps, requester, { giver: { account: account._id, requested: false }, given, dryRun });
  },
});
