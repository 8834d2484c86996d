import type { Config } from '../../shared/platform/config/settings.ts';
import { isDiskFull, isStoreTrouble } from '../../shared/platform/mongo/errors.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import { ACCOUNT_COMMANDS } from './account.ts';
import { AUDIT_COMMANDS } from './audit.ts';
import { runAudited } from './audited.ts';
import { BIND_COMMANDS } from './bind.ts';
import { CARRIER_COMMANDS } from './carrier.ts';
import { CARRIER_PAGE_COMMANDS } from './carrier-page.ts';
import { RECEIPT_COMMANDS } from './carrier-receipts.ts';
import { CARRIER_TEST_COMMANDS } from './carrier-test.ts';
import { CHAIN_COMMANDS } from './chain.ts';
import { CHAT_TEMPLATE_COMMANDS } from './chat-template.ts';
import { type Command, Failure, UsageError } from './command.ts';
import { openContext } from './context.ts';
import { CRASH_POINTS_COMMANDS } from './crash-points.ts';
import { CREDITS_COMMANDS } from './credits.ts';
import { ENV_EXAMPLE_COMMANDS } from './env-example.ts';
import { INBOUND_COMMANDS } from './inbound.ts';
import { KEY_COMMANDS } from './key.ts';
import { LEDGER_COMMANDS } from './ledger.ts';
import { NUMBER_COMMANDS } from './number.ts';
import { OPT_IN_COMMANDS } from './opt-in.ts';
import { OPT_OUT_COMMANDS } from './opt-out.ts';
import { OPT_OUT_WORDS_COMMAND } from './opt-out-words.ts';
import { PROVIDER_COMMANDS } from './provider.ts';
import { readWords } from './read-words.ts';
import { ROUTE_COMMANDS } from './route.ts';
import { SECRETS_COMMANDS } from './secrets.ts';
import { SENDER_COMMANDS } from './sender.ts';
import type { Canvas } from './store/progress.ts';
import { STORE_COMMANDS } from './store.ts';
import { STORE_MOVE_COMMANDS } from './store-move.ts';
import { TEMPLATE_COMMANDS } from './template.ts';
import { TEMPLATE_REQUEST_COMMANDS } from './template-request.ts';
import { USER_COMMANDS } from './user.ts';
import { WEBHOOK_COMMANDS } from './webhook.ts';

export const COMMANDS: readonly Command[] = [
  ...ACCOUNT_COMMANDS,
  ...KEY_COMMANDS,
  ...USER_COMMANDS,
  ...CREDITS_COMMANDS,
  ...SENDER_COMMANDS,
  ...TEMPLATE_COMMANDS,
  ...TEMPLATE_REQUEST_COMMANDS,
  ...NUMBER_COMMANDS,
  ...INBOUND_COMMANDS,
  ...CARRIER_COMMANDS,
  ...BIND_COMMANDS,
  ...RECEIPT_COMMANDS,
  ...CARRIER_PAGE_COMMANDS,
  ...CARRIER_TEST_COMMANDS,
  ...ROUTE_COMMANDS,
  ...CHAIN_COMMANDS,
  ...PROVIDER_COMMANDS,
  ...CHAT_TEMPLATE_COMMANDS,
  ...OPT_IN_COMMANDS,
  ...OPT_OUT_COMMANDS,
  OPT_OUT_WORDS_COMMAND,
  ...WEBHOOK_COMMANDS,
  ...SECRETS_COMMANDS,
  ...LEDGER_COMMANDS,
  ...AUDIT_COMMANDS,
  ...STORE_COMMANDS,
  ...STORE_MOVE_COMMANDS,
  ...ENV_EXAMPLE_COMMANDS,
  ...CRASH_POINTS_COMMANDS,
];

/** Outputs of a command: for answers and for errors. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Where long commands show how far they are; absent: nowhere. */
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

/** Shows a stack trace only for bugs of this program, never for errors that the operator can correct. */
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
