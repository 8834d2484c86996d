import { CsvError, parse } from 'csv-parse/sync';
import type { Route } from '../../messages/message.ts';
import { TITLE_ROWS_MAX } from '../../sheets/parse.ts';
import type { NewTemplate } from '../template.ts';
import { routesOfSenders, SENDERS_MAX, templateFaults } from '../template-form.ts';
import {
  type Column,
  type Columns,
  findColumns,
  KNOWN_STATUSES,
  missingColumns,
  REQUIRED,
  routesOfCategory,
  statusOf,
} from './csv-columns.ts';

export type ReadCsv =
  | {
      readonly kind: 'read';
      readonly templates: readonly NewTemplate[];
      /** Rows that are not valid templates. */
      readonly problems: readonly CsvProblem[];
      /** Number of good rows by sender. */
      readonly rowsBySender: ReadonlyMap<string, number>;
    }
  /** The file is not such an export at all. */
  | { readonly kind: 'unreadable'; readonly detail: string };

export interface CsvProblem {
  /** Line number of the row's beginning, from 1 as in an editor; the header row counts. */
  readonly line: number;
  readonly detail: string;
}

export interface CsvOptions {
  /** Routes for all rows. Default: by each row's category, else by its header. */
  readonly routes?: readonly Route[];
}

/** Most rows of one file; an account has hundreds of templates, rarely thousands. */
const ROWS_MAX = 20_000;

/**
 * Reads an operator's export of content templates. Required columns: `id`, `header` and `content`, by any of the portals' names,
 * in any order, among other columns. Optional: `name`, `category`, `entity id` and `status`. Fields may be quoted and contain
 * line breaks. Separators are commas, semicolons or tabs. Title lines may precede the column names. The content is taken exactly
 * as it is, with outer spaces. Rows that repeat an id for another header become one template. Lists every bad row; `templates`
 * has the good ones.
 */
export function readTemplateCsv(text: string, options: CsvOptions = {}): ReadCsv {
  let rows: Row[];
  try {
    rows = readRows(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { kind: 'unreadable', detail: `line ${numberOr(error.lines, 1)}: ${error.message}` };
  }
  if (rows.length === 0) return { kind: 'unreadable', detail: 'The file is empty.' };
  const columnsOf = rows.slice(0, TITLE_ROWS_MAX + 1).map(({ fields }) => findColumns(fields));
  const missingOf = columnsOf.map((columns) => REQUIRED.filter((column) => columns[column] === undefined));
  const fewest = Math.min(...missingOf.map(({ length }) => length));
  const at = missingOf.findIndex(({ length }) => length === fewest);
  const [head, columns, missing] = [rows[at], columnsOf[at], missingOf[at]];
  if (head === undefined || columns === undefined || missing === undefined || missing.length > 0) {
    return { kind: 'unreadable', detail: missingColumns(missing ?? REQUIRED, head?.fields ?? []) };
  }
  const body = rows.slice(at + 1);
  if (body.length > ROWS_MAX) return { kind: 'unreadable', detail: `There are more than ${ROWS_MAX} rows.` };
  const width = head.fields.findLastIndex((name) => name.trim() !== '') + 1;
  return collect(body, columns, width, options);
}

interface Row {
  readonly line: number;
  readonly fields: readonly string[];
}

function readRows(text: string): Row[] {
  // `="1107…"` without quotes around it, as spreadsheets and portals protect long numbers. No valid CSV has these signs otherwise.
  const octets = Buffer.from(text.replace(/="([0-9]+)"/g, '$1'));
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
      // With `info`, each entry is the record and the number of octets read up to its end.
      const { record, info } = entry as { record: string[]; info: { bytes: number } };
      return { line: lines.startOfRecord(info.bytes), fields: record };
    })
    .filter(({ fields }) => fields.some((field) => field.trim() !== ''));
}

/** The parser's own line count takes a CR LF inside quotes for two lines. */
class LineCounter {
  readonly #octets: Buffer;
  #at = 0;
  #line = 1;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  /** The line where the record ending at this offset begins. Records come in order, with empty lines between them. */
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

/** The delimiter with which the first lines contain the column names. Spreadsheets of many countries write semicolons. */
function delimiterOf(text: string): string {
  const lines = text.split(/\r\n|\n|\r/, TITLE_ROWS_MAX + 1);
  const counts = [',', ';', '\t'].map((sign) => ({
    sign,
    count: Math.max(...lines.map((line) => known(line.split(sign)))),
  }));
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).sign;
}

function known(head: readonly string[]): number {
  const { categories, ...columns } = findColumns(head);
  return categories.length + Object.keys(columns).length;
}

function collect(rows: readonly Row[], columns: Columns, width: number, options: CsvOptions): ReadCsv {
  const byId = new Map<string, NewTemplate>();
  const rowsBySender = new Map<string, number>();
  const problems: CsvProblem[] = [];
  for (const row of rows) {
    const template = readTemplate(row, columns, options);
    const before = byId.get(template.dltId);
    const joined = before === undefined ? template : withSenders(before, template.senders);
    const details = [
      ...templateFaults(template).map(({ field, detail }) => `${FIELD_NAMES[field]}: ${detail}`),
      ...statusProblem(row, columns),
      ...widthProblem(row, width),
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
    else {
      byId.set(template.dltId, joined);
      for (const sender of template.senders) rowsBySender.set(sender, (rowsBySender.get(sender) ?? 0) + 1);
    }
  }
  return { kind: 'read', templates: [...byId.values()], problems, rowsBySender };
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
  // Spreadsheets protect long numbers by an apostrophe, or as ="1107…".
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
    routes: options.routes ?? routesOfRow(fields, columns) ?? routesOfSenders(senders),
    content: field('content'),
    ...(entityId === '' ? {} : { entityId }),
    status: statusOf(field('status')) ?? 'approved',
  };
}

function routesOfRow(fields: readonly string[], { categories }: Columns): readonly Route[] | undefined {
  for (const at of categories) {
    const routes = routesOfCategory(fields[at] ?? '');
    if (routes !== undefined) return routes;
  }
  return undefined;
}

function statusProblem({ fields }: Row, columns: Columns): string[] {
  const status = fields[columns.status ?? -1] ?? '';
  if (statusOf(status) !== undefined) return [];
  return [`status: ${JSON.stringify(status.slice(0, 30))} is not known; known are ${KNOWN_STATUSES}.`];
}

/** The rest of a text behind a separator would be lost, and what is registered would be another text. */
function widthProblem({ fields }: Row, width: number): string[] {
  if (fields.slice(width).every((field) => field.trim() === '')) return [];
  return ['It has more fields than the file has columns: a text with a separator in it must stand in quotes.'];
}

function withSenders(template: NewTemplate, senders: readonly string[]): NewTemplate {
  return { ...template, senders: [...new Set([...template.senders, ...senders])] };
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}
