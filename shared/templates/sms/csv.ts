import type { Route } from '../../messages/document/message.ts';
import { roundedIds, type Word, wordOf } from '../../platform/sheets/cell.ts';
import { decodeFile, type Encoding, parseSheet, type Row, TITLE_ROWS_MAX } from '../../platform/sheets/parse.ts';
import {
  type NewTemplate,
  nameOfText,
  routesOfSenders,
  SENDERS_MAX,
  sameText,
  type TemplateStatus,
  templateFaults,
} from './template.ts';

export interface ReadFileJob extends CsvOptions {
  readonly file: Uint8Array;
  /** Detected by default. */
  readonly encoding?: Encoding;
}

type Read = Extract<ReadCsv, { readonly kind: 'read' }>;

export type ReadFile =
  | (Omit<Read, 'templates'> & {
      /** As JSON, in groups: 20,000 objects from the reading thread would hold a gateway's event loop. */
      readonly groups: readonly string[];
    })
  | Exclude<ReadCsv, Read>;

/** As many as are stored by one command: about 300 KB. */
const GROUP = 500;

/** Reads and judges an operator's export. Takes up to a second for a megabyte of the worst. */
export function readTemplateFile({ file, encoding, ...options }: ReadFileJob): ReadFile {
  const decoded = decodeFile(file, encoding);
  if (decoded.kind === 'unreadable') return decoded;
  const read = readTemplateCsv(decoded.text, options);
  if (read.kind === 'unreadable') return read;
  const { templates, ...rest } = read;
  const groups = Array.from({ length: Math.ceil(templates.length / GROUP) }, (_, i) =>
    JSON.stringify(templates.slice(i * GROUP, (i + 1) * GROUP)),
  );
  return { ...rest, groups };
}

export function templatesOf(group: string): readonly TemplateRow[] {
  return JSON.parse(group) as TemplateRow[]; // what readTemplateFile wrote
}

type ReadCsv =
  | {
      readonly kind: 'read';
      readonly templates: readonly TemplateRow[];
      /** The first rows that are not valid templates, and the number of all of them. */
      readonly problems: readonly CsvProblem[];
      readonly badRows: number;
      /** Number of good rows by sender. */
      readonly rowsBySender: readonly (readonly [sender: string, rows: number])[];
    }
  | { readonly kind: 'unreadable'; readonly detail: string };

export interface TemplateRow extends NewTemplate {
  readonly line: number;
  /** Fields that the file itself gives; the rest are our defaults. */
  readonly told: readonly ('status' | 'routes')[];
}

export interface CsvProblem {
  /** Line of the row's beginning, from 1 as in an editor; the header row counts. */
  readonly line: number;
  readonly detail: string;
}

export interface CsvOptions {
  /** For all rows. Default: by each row's category, else by its header. */
  readonly routes?: readonly Route[];
  /** Line breaks of another form make another text (`lineBreaks` of the account). */
  readonly exactLineBreaks?: boolean;
}

/** An account has hundreds of templates, rarely thousands; a portal's export has some 30 columns. */
const LIMITS = { rows: 20_000, columns: 256, cell: 8_192 } as const;
const ALL_SENDERS_MAX = 2_000;
/** Most problems listed for a file, and for one row. */
export const PROBLEMS_MAX = 100;
const ROW_PROBLEMS_MAX = 5;

/**
 * Reads an operator's export of content templates. Required columns: `id`, `header` and `content`, by any of the
 * portals' names, in any order. Optional: `name`, `category`, `entity id` and `status`. Title lines may precede the
 * column names. The content is taken exactly, with outer spaces. Rows that repeat an id for another header become one
 * template. `templates`: the good ones.
 */
export function readTemplateCsv(text: string, options: CsvOptions = {}): ReadCsv {
  const { rows, fault } = parseSheet(text, LIMITS, likeness);
  if (fault !== undefined) return { kind: 'unreadable', detail: fault };
  if (rows.length === 0) return { kind: 'unreadable', detail: 'The file is empty.' };
  const columnsOf = rows.slice(0, TITLE_ROWS_MAX + 1).map(({ cells }) => findColumns(cells));
  const missingOf = columnsOf.map((columns) => REQUIRED.filter((column) => columns[column] === undefined));
  const fewest = Math.min(...missingOf.map(({ length }) => length));
  const at = missingOf.findIndex(({ length }) => length === fewest);
  const [head, columns, missing] = [rows[at], columnsOf[at], missingOf[at]];
  if (head === undefined || columns === undefined || missing === undefined || missing.length > 0) {
    return { kind: 'unreadable', detail: missingColumns(missing ?? REQUIRED, head?.cells ?? []) };
  }
  const width = head.cells.findLastIndex((name) => name.trim() !== '') + 1;
  return collect(rows.slice(at + 1), columns, width, options);
}

/** The separator is the one with which the first lines have the column names. */
function likeness(cells: readonly string[]): number {
  const { categories, statuses, ...columns } = findColumns(cells);
  return categories.length + statuses.length + Object.keys(columns).length;
}

function collect(rows: readonly Row[], columns: Columns, width: number, options: CsvOptions): ReadCsv {
  const byId = new Map<string, TemplateRow>();
  const rowsBySender = new Map<string, number>();
  const problems: CsvProblem[] = [];
  let badRows = 0;
  const rounded = {
    id: roundedIds(rows.map((row) => idOf(row, columns, 'id'))),
    entityId: roundedIds(rows.map((row) => idOf(row, columns, 'entityId'))),
  };
  for (const row of rows) {
    const template = readTemplate(row, columns, options);
    const before = byId.get(template.dltId);
    const joined = before === undefined ? template : join(before, template);
    const details = [
      ...roundedProblem(row, columns, rounded),
      ...templateFaults(template).map(({ field, detail }) => `${FIELD_NAMES[field]}: ${detail}`),
      ...statusProblem(row, columns),
      ...widthProblem(row, width),
      ...(before !== undefined && !sameText(before.content, template.content, options.exactLineBreaks)
        ? [`id: ${template.dltId} stands in the file before, with another content.`]
        : []),
      ...(before !== undefined && joined.senders.length > SENDERS_MAX
        ? [
            `header: With this row ${template.dltId} has more than ${SENDERS_MAX} senders; leave out those that send nothing.`,
          ]
        : []),
    ];
    if (details.length > 0) {
      badRows++;
      if (badRows <= PROBLEMS_MAX) problems.push({ line: row.line, detail: shortened(details) });
      continue;
    }
    byId.set(template.dltId, joined);
    for (const sender of template.senders) rowsBySender.set(sender, (rowsBySender.get(sender) ?? 0) + 1);
    if (rowsBySender.size > ALL_SENDERS_MAX) {
      return { kind: 'unreadable', detail: `The file names more than ${ALL_SENDERS_MAX} headers. Divide it.` };
    }
  }
  return { kind: 'read', templates: [...byId.values()], problems, badRows, rowsBySender: [...rowsBySender] };
}

function shortened(details: readonly string[]): string {
  const shown = details.slice(0, ROW_PROBLEMS_MAX);
  if (details.length > shown.length) shown.push(`And ${details.length - shown.length} more.`);
  return shown.join(' ');
}

const FIELD_NAMES = {
  dltId: 'id',
  name: 'name',
  senders: 'header',
  routes: 'route',
  entityId: 'entity id',
  content: 'content',
} as const;

function readTemplate(row: Row, columns: Columns, options: CsvOptions): TemplateRow {
  const { cells, line } = row;
  const field = (column: Column): string => cells[columns[column] ?? -1] ?? '';
  const dltId = idOf(row, columns, 'id').text;
  const senders = [
    ...new Set(
      field('header')
        .split(/[,;|\r\n]/)
        .map((sender) => wordOf(sender).text),
    ),
  ].filter((one) => one !== '');
  const entityId = idOf(row, columns, 'entityId').text;
  const routes = options.routes ?? routesOfRow(cells, columns);
  const words = statusWords(row, columns);
  const status = worstStatus(words.flatMap((word) => statusOf(word) ?? []));
  return {
    line,
    told: [...(status === undefined ? [] : ['status' as const]), ...(routes === undefined ? [] : ['routes' as const])],
    dltId,
    name: field('name').trim() || nameOfText(field('content')),
    senders,
    routes: routes ?? routesOfSenders(senders),
    content: field('content'),
    ...(entityId === '' ? {} : { entityId }),
    status: status ?? 'approved',
    ...(status === 'rejected' ? { reason: `The DLT platform says: ${words.join(', ').slice(0, 100)}` } : {}),
  };
}

function idOf({ cells }: Row, columns: Columns, column: 'id' | 'entityId'): Word {
  const word = wordOf(cells[columns[column] ?? -1] ?? '');
  return { ...word, text: word.text.replaceAll(/\s/g, '') };
}

function routesOfRow(cells: readonly string[], { categories }: Columns): readonly Route[] | undefined {
  for (const at of categories) {
    const routes = routesOfCategory(cells[at] ?? '');
    if (routes !== undefined) return routes;
  }
  return undefined;
}

function roundedProblem(
  row: Row,
  columns: Columns,
  rounded: Readonly<Record<'id' | 'entityId', ReadonlySet<string>>>,
): string[] {
  return (['id', 'entityId'] as const).flatMap((column) => {
    const { text, isProtected } = idOf(row, columns, column);
    if (isProtected || !rounded[column].has(text)) return [];
    const name = column === 'id' ? 'id' : 'entity id';
    return `${name}: ${text} ends in zeros as ids do that a spreadsheet has rounded, so it is probably another template's. Export it again with the column as text. If it is right, write it as ="${text}".`;
  });
}

function statusWords({ cells }: Row, { statuses }: Columns): readonly string[] {
  return statuses.map((at) => wordOf(cells[at] ?? '').text).filter((word) => word !== '');
}

function statusProblem(row: Row, columns: Columns): string[] {
  const unknown = statusWords(row, columns).find((word) => statusOf(word) === undefined);
  if (unknown === undefined) return [];
  return [`status: ${JSON.stringify(unknown.slice(0, 30))} is not known; known are ${KNOWN_STATUSES}.`];
}

/** Text after a stray separator would be lost, and another text would be registered. */
function widthProblem({ cells, torn }: Row, width: number): string[] {
  if (torn) return ['A quotation mark ends amid a cell: within quotes it must be written twice.'];
  if (cells.slice(width).every((cell) => cell.trim() === '')) return [];
  return ['It has more fields than the file has columns: a text with a separator in it must stand in quotes.'];
}

/** Joins rows of one template, each with its header. The strictest status and the common routes apply. */
function join(before: TemplateRow, { senders, status, reason }: TemplateRow): TemplateRow {
  const worst = worstStatus([before.status, status]) ?? status;
  return {
    ...before,
    senders: [...new Set([...before.senders, ...senders])],
    status: worst,
    ...(worst !== before.status && reason !== undefined ? { reason } : {}),
  };
}

/**
 * Columns of the operators' exports (Jio, Vodafone Idea, Airtel, BSNL, Tata, VideoCon and the gateways behind them).
 * None documents its file, and each changes it: so case, spaces and signs of names are ignored, and columns may be in
 * any order.
 */
type Column = 'id' | 'header' | 'content' | 'name' | 'entityId';

interface Columns extends Readonly<Partial<Record<Column, number>>> {
  /** All that may tell the route; portals write `TEXT` or `SMS` into one and `Service Implicit` into another. */
  readonly categories: readonly number[];
  /** All that may tell the status: one has `Approved`, while another has `Inactive`. */
  readonly statuses: readonly number[];
}

const REQUIRED = ['id', 'header', 'content'] as const satisfies readonly Column[];

/** In lower case, letters only. The first one that a file has is used. */
const COLUMN_NAMES: Readonly<Record<Column, readonly string[]>> = {
  id: wordsOf(
    'templateid dlttemplateid contenttemplateid dltcontenttemplateid dltcontentid dltteid teid dltid tempid contentid id',
  ),
  header: wordsOf(
    'header headers headername headernames registeredheader registeredheaders mappedheader mappedheaders linkedheader linkedheaders',
    'smsheader headercli headersenderid senderidheader senderid senderids sendername sender senders headerid headerids cli',
  ),
  content: wordsOf(
    'templatecontent contenttemplate content templatemessage templatebody templatetext messagetemplate messagecontent messagetext',
    'smscontent smstext message text template',
  ),
  name: wordsOf('templatename contenttemplatename templatetitle name title'),
  entityId: wordsOf('entityid peid principalentityid dltentityid'),
};

const STATUS_COLUMNS = wordsOf(
  'status templatestatus approvalstatus currentstatus dltstatus contenttemplatestatus registrationstatus activestatus',
  'blackliststatus templatestate state',
);

const CATEGORY_NAMES = wordsOf(
  'templatetype contenttype type category templatecategory communicationtype messagetype route',
);

/** The portals' names of template states. */
const STATUS_NAMES: ReadonlyMap<string, TemplateStatus> = new Map([
  ...named('approved', 'approved active registered enabled whitelisted'),
  ...named('submitted', 'pending submitted inprocess inprogress underreview awaiting'),
  ...named('rejected', 'rejected disapproved notapproved inactive notactive deactivated disabled deleted blacklisted'),
  ...named('rejected', 'blacklist blocked blocklisted barred suspended expired unapproved unregistered deregistered'),
  ...named(
    'rejected',
    'stopped onhold dormant revoked withdrawn surrendered cancelled canceled discontinued terminated',
  ),
]);

function named(status: TemplateStatus, line: string) {
  return wordsOf(line).map((word) => [word, status] as const);
}

function wordsOf(...lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split(' '));
}

function findColumns(head: readonly string[]): Columns {
  const names = head.map(plain);
  const columns: Partial<Record<Column, number>> = {};
  for (const column of Object.keys(COLUMN_NAMES) as Column[]) {
    const name = COLUMN_NAMES[column].find((candidate) => names.includes(candidate));
    if (name !== undefined) columns[column] = names.indexOf(name);
  }
  const among = (list: readonly string[]) => names.flatMap((name, i) => (list.includes(name) ? [i] : []));
  return { ...columns, categories: among(CATEGORY_NAMES), statuses: among(STATUS_COLUMNS) };
}

/** For a file that lacks columns: which ones, which it has, and which names they may have. */
function missingColumns(missing: readonly Column[], head: readonly string[]): string {
  const found = head
    .slice(0, HEADS_SHOWN)
    .map((one) => JSON.stringify(one.trim().slice(0, HEAD_CHARACTERS)))
    .join(', ');
  const more = head.length > HEADS_SHOWN ? ` and ${head.length - HEADS_SHOWN} more` : '';
  const names = missing.map((column) => `${column} (${NAMES_SHOWN[column]})`).join(', ');
  return `There is no column for ${names}. The file has ${found}${more}.`;
}
const HEADS_SHOWN = 20;
const HEAD_CHARACTERS = 40;

const NAMES_SHOWN: Readonly<Record<Column, string>> = {
  id: 'as "Template ID"',
  header: 'as "Header", "HEADER ID" or "Sender ID"',
  content: 'as "Template Content", "Content Template" or "Template Message"',
  name: 'as "Template Name"',
  entityId: 'as "Entity ID"',
};

function statusOf(text: string): TemplateStatus | undefined {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const found: (TemplateStatus | undefined)[] = [];
  for (let i = 0; i < words.length; i++) {
    const [word = '', next = ''] = words.slice(i, i + 2);
    // `In-Active`, `Black listed`, `De-activated`.
    const joined = STATUS_NAMES.get(word + next);
    if (joined === undefined && !NEGATIONS.has(word)) found.push(STATUS_NAMES.get(word));
    else {
      found.push(joined ?? opposite(STATUS_NAMES.get(next)));
      i++;
    }
  }
  // `Active (blacklisted)` may not be sent, nor may `Approval pending` yet. Otherwise the first word counts:
  // `REGISTERED VIA AIRTEL`, `Approved by registrar`. `Active: No` tells nothing.
  const worst = worstStatus(found.flatMap((status) => status ?? []));
  if (worst !== 'approved') return worst;
  return NEGATIONS.has(words.at(-1) ?? '') ? undefined : found[0];
}

const NEGATIONS: ReadonlySet<string> = new Set(['no', 'non', 'not', 'un']);

/** `Not Blacklisted`, `Non-active`. */
function opposite(status: TemplateStatus | undefined): TemplateStatus | undefined {
  return status === undefined || status === 'submitted' ? undefined : status === 'approved' ? 'rejected' : 'approved';
}

/** The strictest. */
function worstStatus(statuses: readonly TemplateStatus[]): TemplateStatus | undefined {
  return (['rejected', 'submitted', 'approved'] as const).find((status) => statuses.includes(status));
}

const KNOWN_STATUSES = [...STATUS_NAMES.keys()].join(', ');

/** "Service Explicit" became promotional in 2025. Undefined for other words: then the header tells. */
function routesOfCategory(category: string): readonly Route[] | undefined {
  const name = plain(category);
  if (/promo|explicit/.test(name) || name === 'se') return ['promotional'];
  if (/transaction|implicit/.test(name)) return ['transactional'];
  return ['service', 'government', 'trans', 'si'].includes(name) ? ['transactional'] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
