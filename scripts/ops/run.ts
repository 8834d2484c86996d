import type { Config } from '../../shared/platform/config/settings.ts';
import { isDiskFull, isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { commandOf, nameRequests, unnamedActs } from './act.ts';
import { ACTS } from './acts.ts';
import { runAudited } from './audited.ts';
import { CARRIER_TEST_COMMANDS, RECEIPT_COMMANDS } from './carrier-test.ts';
import { type Canvas, type Command, Failure, UsageError } from './command.ts';
import { openContext } from './context.ts';
import { LEDGER_COMMANDS } from './ledger.ts';
import { OPT_IN_COMMANDS, OPT_OUT_COMMANDS } from './opt-lists.ts';
import { OPT_OUT_WORDS_COMMAND } from './opt-out-words.ts';
import { PAGE_COMMANDS } from './pages.ts';
import { OPERATOR_KEY_COMMANDS, USER_COMMANDS } from './people.ts';
import { readWords } from './read-words.ts';
import { SECRETS_COMMANDS } from './secrets.ts';
import { STORE_COMMANDS, STORE_MOVE_COMMANDS } from './store.ts';
import { CHAT_TEMPLATE_COMMAND, TEMPLATE_COMMANDS } from './template.ts';

const acts = [...ACTS, ...unnamedActs(ACTS)];
nameRequests(acts);

export const COMMANDS: readonly Command[] = [
  ...acts.map(commandOf),
  ...OPERATOR_KEY_COMMANDS,
  ...USER_COMMANDS,
  ...TEMPLATE_COMMANDS,
  ...RECEIPT_COMMANDS,
  ...CARRIER_TEST_COMMANDS,
  CHAT_TEMPLATE_COMMAND,
  ...OPT_IN_COMMANDS,
  ...OPT_OUT_COMMANDS,
  OPT_OUT_WORDS_COMMAND,
  ...SECRETS_COMMANDS,
  ...LEDGER_COMMANDS,
  ...STORE_COMMANDS,
  ...STORE_MOVE_COMMANDS,
  ...PAGE_COMMANDS,
];

export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Where long commands show progress; absent: nowhere. */
  readonly canvas?: Canvas;
}

/** Runs one command line. Returns the exit code: 0 done, 1 not done, 2 wrong usage. */
export async function runOps(
  words: readonly string[],
  terminal: Terminal,
  readConfig: () => Config,
): Promise<0 | 1 | 2> {
  try {
    const request = readWords(COMMANDS, words);
    if (request.kind === 'help') {
      terminal.out(request.text);
      return 0;
    }
    const context = openContext(readConfig(), terminal);
    try {
      const answer = await runAudited(request.command, request.values, context);
      if ('lines' in answer) {
        for await (const line of answer.lines(request.json)) terminal.out(line);
        return 0;
      }
      terminal.out(request.json ? JSON.stringify(answer.json, null, 2) : answer.text);
      return answer.ok === false ? 1 : 0;
    } finally {
      await context.close();
    }
  } catch (error) {
    const { text, code } = explain(error);
    terminal.err(text);
    return code;
  }
}

/** Shows a stack trace only for bugs of this program, not for errors that the operator can correct. */
function explain(error: unknown): { readonly text: string; readonly code: 1 | 2 } {
  if (error instanceof UsageError) return { text: error.message, code: 2 };
  if (error instanceof Failure || error instanceof StartError) return { text: error.message, code: 1 };
  if (isDiskFull(error)) return { text: `The store cannot write: ${error.message}`, code: 1 };
  if (error instanceof Error && isStoreTrouble(error))
    return {
      text: `The store is in trouble, so this may be done or not: ${error.message}. Look whether it is done, and run the command again when the store answers.`,
      code: 1,
    };
  return { text: error instanceof Error ? (error.stack ?? error.message) : String(error), code: 1 };
}
