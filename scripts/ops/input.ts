import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { isCustomerUserId } from '../../shared/messages/document/recipient.ts';
import { type AskedSecret, readEnvironment } from '../../shared/platform/config/environment.ts';
import { wordOf } from '../../shared/platform/sheets/cell.ts';
import { decodeFile, looksLikeHead, parseSheet, type Row } from '../../shared/platform/sheets/parse.ts';
import { Failure, UsageError } from './command.ts';

/** Throws a `Failure` that says why the file cannot be read. */
export async function readOctets(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Millions of opt-outs fit into memory; columns beyond these have no meaning. */
const LIMITS = { rows: 5_000_000, columns: 256, cell: 8_192 } as const;
const SHOWN_PROBLEMS = 50;

export interface LineProblem {
  readonly line: number;
  readonly detail: string;
}

export interface NumberFile {
  /** The first row's cells in lower case, letters only; empty if it is no heading. */
  readonly head: readonly string[];
  readonly rows: readonly Row[];
}

/**
 * Reads a file of numbers from a spreadsheet or portal. Other columns may be in Windows-1252, as only numbers count.
 * Throws a `Failure` that says why it cannot be read.
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

/** A single bad line stops the import. */
export function refuseBadLines(problems: readonly LineProblem[]): void {
  if (problems.length === 0) return;
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(({ line, detail }) => `line ${line}: ${detail}`);
  if (problems.length > lines.length) lines.push(`and ${problems.length - lines.length} more`);
  throw new Failure(`Nothing was imported. Bad lines: ${problems.length}.\n${lines.join('\n')}`);
}

/** What each secret is, and the option that reads it from stdin. */
const SECRETS: Readonly<Record<AskedSecret, { readonly what: string; readonly option: string }>> = {
  HARKARA_STORE_URI: { what: "the other store's address", option: '--uri-stdin' },
  HARKARA_SMPP_PASSWORD: { what: 'the password', option: '--password-stdin' },
  HARKARA_CHATAPP_TOKEN: { what: 'the access token', option: '--token-stdin' },
  HARKARA_CHATAPP_APP_SECRET: { what: 'the app secret', option: '--app-secret-stdin' },
};

/**
 * Reads a secret without a trace in the shell's history or the process list: from stdin with `fromStdin` (without a
 * trailing line break), else from the variable or `.env`, else from the terminal without echo.
 */
export async function readSecret(variable: AskedSecret, fromStdin: boolean): Promise<string> {
  if (fromStdin) return (await text(process.stdin)).replace(/\r?\n$/, '');
  const given = readEnvironment()[variable];
  if (given !== undefined) return given;
  const { what, option } = SECRETS[variable];
  if (!process.stdin.isTTY) {
    throw new UsageError(`Give ${what} on stdin with ${option}, or in ${variable} (.env or the environment).`);
  }
  return ask(`${variable}: `);
}

/** Reads a line without echo. Ctrl-C ends the command as usual. */
function ask(prompt: string): Promise<string> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  return new Promise((resolve) => {
    let line = '';
    const end = (): void => {
      stdin.setRawMode(false);
      stdin.pause();
      stdin.off('data', take);
      stderr.write('\n');
    };
    const take = (characters: string): void => {
      for (const character of characters) {
        if (character === '\r' || character === '\n') {
          end();
          resolve(line);
          return;
        }
        if (character === '\u0003') {
          end();
          process.kill(process.pid, 'SIGINT');
          return;
        }
        line = character === '\u007f' ? line.slice(0, -1) : line + character;
      }
    };
    stdin.on('data', take);
    stdin.resume();
  });
}
