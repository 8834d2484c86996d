import { CsvError, parse } from 'csv-parse/sync';
import type { Route } from '../messages/message.ts';
import type { NewTemplate, TemplateStatus } from './template.ts';
import { routesOfSenders, SENDERS_MAX, templateFaults } from './template-form.ts';

export interface ReadCsv {
  readonly templates: readonly NewTemplate[];
  readonly problems: readonly CsvProblem[];
}

export interface CsvProblem {
  /** Where the row begins, counted from 1 as an editor does; the header row is one too. */
  readonly line: number;
  readonly detail: string;
}

export interface CsvOptions {
  /** For all rows. Default: by each row's category, and else by its header. */
  readonly routes?: readonly Route[];
}

/** Rows of one file; an account's templates are hundreds, rarely thousands. */
const ROWS_MAX = 20_000;

/**
 * Reads an operator's export of content templates: `id`, `header` and `content` by any of the names that the portals give
 * them, in any order, among other columns; `name`, `category`, `entity id` and `status` where they are. Fields may be quoted
 * and hold line breaks; commas, semicolons or tabs part them. The content is taken exactly as it stands, outer spaces too.
 * Rows that repeat an id for another header are one template. Lists every bad row; what the good ones say is in `templates`.
 */
export function readTemplateCsv(text: string, options: CsvOptions = {}): ReadCsv {
  let rows: Row[];
  try {
    rows = readRows(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { templates: [], problems: [{ line: numberOr(error.lines, 1), detail: error.message }] };
  }
  const [head, ...body] = rows;
  if (head === undefined) return { templates: [], problems: [{ line: 1, detail: 'The file is empty.' }] };
  const columns = findColumns(head.fields);
  const missing = REQUIRED.filter((column) => columns[column] === undefined);
  if (missing.length > 0) {
    const detail = `There is no column for ${missing.join(', ')} among ${head.fields.map((one) => `"${one}"`).join(', ')}.`;
    return { templates: [], problems: [{ line: head.line, detail }] };
  }
  if (body.length > ROWS_MAX) {
    return { templates: [], problems: [{ line: head.line, detail: `There are more than ${ROWS_MAX} rows.` }] };
  }
  return collect(body, columns, options);
}

interface Row {
  readonly line: number;
  readonly fields: readonly string[];
}

type Column = 'id' | 'header' | 'content' | 'name' | 'category' | 'entityId' | 'status';
type Columns = Readonly<Partial<Record<Column, number>>>;

const REQUIRED = ['id', 'header', 'content'] as const satisfies readonly Column[];

/** Names of columns, in lower case without spaces and signs; the first that a file has counts. */
const COLUMN_NAMES: Readonly<Record<Column, readonly string[]>> = {
  id: ['templateid', 'dlttemplateid', 'contenttemplateid', 'dltteid', 'dltid', 'id'],
  header: ['header', 'headers', 'headername', 'registeredheader', 'sender', 'senders', 'senderid', 'cli'],
  content: [
    'templatecontent',
    'content',
    'templatemessage',
    'templatebody',
    'templatetext',
    'message',
    'text',
    'template',
  ],
  name: ['templatename', 'contenttemplatename', 'name'],
  category: ['templatetype', 'contenttype', 'type', 'category', 'communicationtype'],
  entityId: ['entityid', 'peid', 'principalentityid'],
  status: ['templatestatus', 'approvalstatus', 'status'],
};

/** What the portals call the state of a template. */
const STATUS_NAMES: Readonly<Record<string, TemplateStatus>> = {
  approved: 'approved',
  active: 'approved',
  registered: 'approved',
  pending: 'submitted',
  submitted: 'submitted',
  inprocess: 'submitted',
  rejected: 'rejected',
  inactive: 'rejected',
  blacklisted: 'rejected',
  blocked: 'rejected',
  suspended: 'rejected',
  expired: 'rejected',
};

function readRows(text: string): Row[] {
  const octets = Buffer.from(text);
  const records: unknown = parse(octets, {
    bom: true,
    delimiter: delimiterOf(text),
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const lines = new LineCounter(octets);
  return (Array.isArray(records) ? records : [])
    .map((entry: unknown) => {
      // With `info`, each entry is the record and how many octets were read when it ended.
      const { record, info } = entry as { record: string[]; info: { bytes: number } };
      return { line: lines.startOfRecord(info.bytes), fields: record };
    })
    .filter(({ fields }) => fields.some((field) => field.trim() !== ''));
}

/** The parser's own count takes a CR LF inside quotes for two lines. */
class LineCounter {
  readonly #octets: Buffer;
  #at = 0;
  #line = 1;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  /** Where the record begins that ends at this offset; records come in order, empty lines between them. */
  startOfRecord(end: number): number {
    while (this.#at < end && (this.#octets[this.#at] === CR || this.#octets[this.#at] === LF)) this.#step();
    const start = this.#line;
    while (this.#at < end) this.#step();
    return start;
  }

  #step(): void {
    const octet = this.#octets[this.#at];
    if (octet === LF || (octet === CR && this.#octets[this.#at + 1] !== LF)) this.#line++;
    this.#at++;
  }
}
const CR = 13;
const LF = 10;

/** The sign that parts most fields of the first line; spreadsheets of many countries write semicolons. */
function delimiterOf(text: string): string {
  const [first = ''] = text.split(/\r?\n/, 1);
  const counts = [',', ';', '\t'].map((sign) => ({ sign, count: first.split(sign).length }));
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).sign;
}

function findColumns(head: readonly string[]): Columns {
  const names = head.map(plain);
  const columns: Partial<Record<Column, number>> = {};
  for (const column of Object.keys(COLUMN_NAMES) as Column[]) {
    const name = COLUMN_NAMES[column].find((candidate) => names.includes(candidate));
    if (name !== undefined) columns[column] = names.indexOf(name);
  }
  return columns;
}

function collect(rows: readonly Row[], columns: Columns, options: CsvOptions): ReadCsv {
  const byId = new Map<string, NewTemplate>();
  const problems: CsvProblem[] = [];
  for (const row of rows) {
    const template = readTemplate(row, columns, options);
    const before = byId.get(template.dltId);
    const joined = before === undefined ? template : withSenders(before, template.senders);
    const details = [
      ...templateFaults(template).map(({ field, detail }) => `${FIELD_NAMES[field]}: ${detail}`),
      ...statusProblem(row, columns),
      ...(before !== undefined && before.content !== template.content
        ? [`id: ${template.dltId} stands in the file before, with another content.`]
        : []),
      ...(before !== undefined && joined.senders.length > SENDERS_MAX
        ? [
            `header: With this row ${template.dltId} has more than ${SENDERS_MAX} senders; leave out those that send nothing.`,
          ]
        : []),
    ];
    if (details.length > 0) problems.push({ line: row.line, detail: details.join(' ') });
    else byId.set(template.dltId, joined);
  }
  return { templates: [...byId.values()], problems };
}

const FIELD_NAMES = {
  dltId: 'id',
  name: 'name',
  senders: 'header',
  routes: 'route',
  entityId: 'entity id',
  content: 'content',
} as const;

function readTemplate({ fields }: Row, columns: Columns, options: CsvOptions): NewTemplate {
  const field = (column: Column): string => fields[columns[column] ?? -1] ?? '';
  // Spreadsheets keep long numbers whole behind an apostrophe, or as ="1107…".
  const digits = (column: Column): string =>
    field(column)
      .trim()
      .replace(/^(?:'|="?)/, '')
      .replace(/"$/, '');
  const dltId = digits('id');
  const senders = [
    ...new Set(
      field('header')
        .split(/[,;|\n]/)
        .map((sender) => sender.trim()),
    ),
  ].filter((one) => one !== '');
  const entityId = digits('entityId');
  return {
    dltId,
    name: field('name').trim() || dltId,
    senders,
    routes: options.routes ?? routesOfCategory(field('category')) ?? routesOfSenders(senders),
    content: field('content'),
    ...(entityId === '' ? {} : { entityId }),
    status: STATUS_NAMES[plain(field('status'))] ?? 'approved',
  };
}

/** "Service Explicit" became promotional in 2025; what names neither (`TEXT`) leaves it to the header. */
function routesOfCategory(category: string): readonly Route[] | undefined {
  const name = plain(category);
  if (/promotional|explicit/.test(name)) return ['promotional'];
  return /transactional|service|government|implicit/.test(name) ? ['transactional'] : undefined;
}

function statusProblem({ fields }: Row, columns: Columns): string[] {
  const status = fields[columns.status ?? -1] ?? '';
  if (plain(status) === '' || STATUS_NAMES[plain(status)] !== undefined) return [];
  return [
    `status: ${JSON.stringify(status.slice(0, 30))} is not known; known are ${Object.keys(STATUS_NAMES).join(', ')}.`,
  ];
}

function withSenders(template: NewTemplate, senders: readonly string[]): NewTemplate {
  return { ...template, senders: [...new Set([...template.senders, ...senders])] };
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
