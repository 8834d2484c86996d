import { decodeFile, type Encoding } from '../../../platform/sheets/encoding.ts';
import { type CsvOptions, type ReadCsv, readTemplateCsv, type TemplateRow } from './csv.ts';

export interface ReadFileJob extends CsvOptions {
  readonly file: Uint8Array;
  /** Detected by default. */
  readonly encoding?: Encoding;
}

type Read = Extract<ReadCsv, { readonly kind: 'read' }>;

export type ReadFile =
  | (Omit<Read, 'templates'> & {
      /**
       * The templates as JSON, in groups. A gateway reads files in a thread, and 20,000 objects from there would hold its event loop
       * for 100 ms.
       */
      readonly groups: readonly string[];
    })
  | Exclude<ReadCsv, Read>;

/** As many as are stored by one command: about 300 KB. */
const GROUP = 500;

/** Reads and judges an operator's export (csv.ts). Pure; takes up to a second for a megabyte of the worst. */
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
