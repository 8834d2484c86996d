import type { Document } from 'mongodb';
import { answer, type Command, readAnswer, rewritten } from './framing.ts';
import type { Handler } from './link.ts';

export const WRITES: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'findAndModify']);

export interface Fault {
  /** Names of commands; absent: any command. */
  readonly command?: string | readonly string[];
  readonly collection?: string;
  /** How many of these commands succeed first. */
  readonly after?: number;
  /** How many then fail. Default 1. */
  readonly times?: number;
  readonly happens: Handler;
}

/** A fault that a proxy was given. */
export interface Injected {
  /** How many commands it has happened to. */
  readonly met: number;
  /** No later command gets the fault. */
  end(): void;
}

/** A proxy's faults, in the order in which they were added. */
export class Faults {
  readonly #open = new Set<{ readonly fault: Fault; passed: number; met: number }>();

  inject(fault: Fault): Injected {
    const entry = { fault, passed: 0, met: 0 };
    this.#open.add(entry);
    return {
      get met() {
        return entry.met;
      },
      end: () => void this.#open.delete(entry),
    };
  }

  /** Counts the command and returns its fault, if any. */
  meet(command: Command): Handler | undefined {
    for (const entry of this.#open) {
      const { fault } = entry;
      if (!matches(fault, command)) continue;
      if (entry.passed < (fault.after ?? 0)) {
        entry.passed += 1;
        continue;
      }
      entry.met += 1;
      if (entry.met >= (fault.times ?? 1)) this.#open.delete(entry);
      return fault.happens;
    }
    return undefined;
  }
}

function matches({ command: names, collection }: Fault, command: Command): boolean {
  if (collection !== undefined && command.collection !== collection) return false;
  return names === undefined || (typeof names === 'string' ? names === command.name : names.includes(command.name));
}

export const pass: Handler = async (command, link) => link.tell(await link.ask(command.message));

/** The server never gets it. */
export const cutBefore: Handler = async (_, link) => link.cut();

/** The server does it, but its answer is lost. */
export const cutAfter: Handler = async (command, link) => {
  await link.ask(command.message);
  link.cut();
};

/** The server never gets it, and the connection stays open until the driver ends it. */
export const silent: Handler = (_, link) => link.ended;

export const delayed =
  (ms: number): Handler =>
  async (command, link) => {
    await new Promise((over) => setTimeout(over, ms));
    await pass(command, link);
  };

/** Delays the command until the promise resolves. */
export const held =
  (until: Promise<unknown>): Handler =>
  async (command, link) => {
    await Promise.race([until, link.ended]);
    await pass(command, link);
  };

/** Codes of mongod's error_codes.yml. */
export const CODES = {
  NotWritablePrimary: 10_107,
  InterruptedDueToReplStateChange: 11_602,
  ShutdownInProgress: 91,
  IngressRequestRateLimitExceeded: 462,
  IndexBuildAlreadyInProgress: 285,
  WriteConcernTimeout: 64,
  UnknownError: 8,
  NotPrimaryNoSecondaryOk: 13_435,
  BSONObjectTooLarge: 10_334,
} as const;
export type CodeName = keyof typeof CODES;

export const errorOf = (codeName: CodeName) => ({ code: CODES[codeName], codeName, errmsg: `played: ${codeName}` });

/** Codes of servers in trouble that leave open what happened to a command. 50463173 is not mongod's. */
export const FOREIGN_CODES = [
  ...[
    0, 1, 6, 7, 8, 13, 17, 18, 20, 22, 24, 26, 43, 46, 50, 51, 63, 64, 74, 79, 82, 83, 89, 90, 91, 94, 96, 100, 107,
    112,
  ],
  ...[
    117, 125, 133, 134, 136, 143, 145, 146, 149, 150, 175, 189, 202, 206, 211, 216, 237, 246, 249, 251, 262, 276, 279,
  ],
  ...[
    285, 314, 317, 319, 355, 358, 365, 371, 384, 402, 406, 407, 412, 433, 449, 450, 453, 462, 8_000, 9_001, 10_003,
    10_058,
  ],
  ...[10_107, 11_600, 11_601, 11_602, 13_388, 13_435, 13_436, 14_031, 46_841, 50_915, 91_331, 10_045_600, 50_463_173],
  ...[4_194_304, 999_999_999, -1],
] as const;

/** Answers with an error; the server never gets it. */
export const refused =
  (name: CodeName): Handler =>
  async ({ message }, link) =>
    link.tell(answer(message, { ok: 0, ...errorOf(name) }));

/** Answers with this; the server never gets it. */
export const answered =
  (said: Document): Handler =>
  async ({ message }, link) =>
    link.tell(answer(message, said));

/** An error without a code, or with one that leaves open what happened. */
export const foreign = (code: number | undefined): Document => ({
  ok: 0,
  code,
  errmsg: `played: ${code ?? 'no code'}`,
});

/** The server does it, but the answer is replaced. */
export const doneAndAnswered =
  (said: Document): Handler =>
  async ({ message }, link) => {
    await link.ask(message);
    link.tell(answer(message, said));
  };

/** Refuses each statement with this code, but not the command as a whole. */
export const eachRefused =
  (code: number): Handler =>
  async (command, link) => {
    if (command.name === 'findAndModify') return answered(foreign(code))(command, link);
    const statements: readonly unknown[] = command.body()[STATEMENTS[command.name] ?? ''] ?? [];
    const writeErrors = statements.map((_, index) => ({ index, code, errmsg: `played: ${code}` }));
    link.tell(answer(command.message, { ok: 1, n: 0, nModified: 0, writeErrors }));
  };

/** Done here, but perhaps not on a majority (manual, "Write Concern": the write is not undone). */
export const unreplicated =
  (name: CodeName): Handler =>
  async (command, link) =>
    link.tell(withConcernError(command, await link.ask(command.message), name));

export function withConcernError({ message }: Command, reply: Buffer, name: CodeName): Buffer {
  return answer(message, { ...readAnswer(reply), writeConcernError: errorOf(name) });
}

/** The field that holds a command's statements. */
const STATEMENTS: Readonly<Record<string, string>> = { insert: 'documents', update: 'updates', delete: 'deletes' };

/**
 * Half of a command's statements are done, then the primary steps down. `each`: an error for each other statement.
 * `all`: the whole command fails without saying what was done, as in mongod's write_ops_exec.cpp on interruption.
 */
export const halfDone =
  (told: 'each' | 'all', name: CodeName = 'InterruptedDueToReplStateChange'): Handler =>
  async (command, link) => {
    const body = command.body();
    const field = STATEMENTS[command.name] ?? '';
    const statements: readonly unknown[] = body[field] ?? [];
    const done = statements.slice(0, Math.ceil(statements.length / 2));
    const half = readAnswer(await link.ask(rewritten(command, { ...body, [field]: done })));
    const writeErrors = [
      ...(half.writeErrors ?? []),
      ...statements.slice(done.length).map((_, i) => ({ index: done.length + i, ...errorOf(name) })),
    ];
    const failed = { ok: 0, ...errorOf(name) };
    link.tell(answer(command.message, told === 'all' ? failed : { ...half, writeErrors }));
  };
