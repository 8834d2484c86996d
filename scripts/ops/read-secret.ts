import { text } from 'node:stream/consumers';
import { readEnvironment } from '../../shared/platform/config/environment.ts';
import type { AskedSecret } from '../../shared/platform/config/secrets.ts';
import { UsageError } from './command.ts';

/** What is read, and the option that reads it from stdin. */
const SECRETS: Readonly<Record<AskedSecret, { readonly what: string; readonly option: string }>> = {
  HARKARA_STORE_URI: { what: "the other store's address", option: '--uri-stdin' },
  HARKARA_SMPP_PASSWORD: { what: 'the password', option: '--password-stdin' },
  HARKARA_CHATAPP_TOKEN: { what: 'the access token', option: '--token-stdin' },
  HARKARA_CHATAPP_APP_SECRET: { what: 'the app secret', option: '--app-secret-stdin' },
};

/**
 * Reads a secret without a trace in the shell's history or the list of processes: with `fromStdin` all of stdin (without a
 * trailing line break), else the variable in the environment or `.env`, else a question on the terminal without echo.
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

/** Reads a line from the terminal without echo. Ctrl-C ends the command as usual. */
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
