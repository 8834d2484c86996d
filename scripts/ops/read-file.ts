import { readFile } from 'node:fs/promises';
import { isCustomerUserId } from '../../shared/messages/document/recipient.ts';
import { wordOf } from '../../shared/platform/sheets/cell.ts';
import { decodeFile } from '../../shared/platform/sheets/encoding.ts';
import { looksLikeHead, parseSheet, type Row } from '../../shared/platform/sheets/parse.ts';
import { Failure } from './command.ts';

/** What is in a file that a command names. Throws a `Failure` that says why it cannot be read. */
export async function readOctets(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Millions of opt-outs fit into memory; columns beyond these have no meaning. */
const LIMITS = { rows: 5_000_000, columns: 256, cell: 8_192 } as const;
/** Most bad lines of a file that are shown. */
const SHOWN_PROBLEMS = 50;

export interface LineProblem {
  readonly line: number;
  readonly detail: string;
}

export interface NumberFile {
  /** In lower case, letters alone; empty when the first row has none. */
  readonly head: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * Reads a file whose numbers alone count, as spreadsheets and portals write it: names beside them may be in Windows-1252. Throws a
 * `Failure` that says why it cannot be read.
 */
export async function readNumberFile(file: string): Promise<NumberFile> {
  const octets = await readOctets(file);
  const strict = decodeFile(octets);
  const decoded = strict.kind === 'text' ? strict : decodeFile(octets, 'windows-1252');
  if (decoded.kind === 'unreadable') throw new Failure(`Nothing was imported. ${file}: ${decoded.detail}`);
  const { rows, fault } = parseSheet(decoded.text, LIMITS);
  if (fault !== undefined) throw new Failure(`Nothing was imported. ${file}: ${fault}`);
  const [first] = rows;
  if (first === undefined || isCustomerUserId(first.cells[0] ?? '') || !looksLikeHead(first.cells))
    return { head: [], rows };
  return {
    head: first.cells.map((cell) => wordOf(cell).text.toLowerCase().replaceAll(/\P{L}/gu, '')),
    rows: rows.slice(1),
  };
}

/** Nothing is imported while a line is bad. */
export function refuseBadLines(problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(({ line, detail }) => `line ${line}: ${detail}`);
  if (problems.length > lines.length) lines.push(`and ${problems.length - lines.length} more`);
  throw new Failure(`Nothing was imported. Bad lines: ${problems.length}.\n${lines.join('\n')}`);
}
