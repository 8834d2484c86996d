import { text } from 'node:stream/consumers';
import { readEnvironment } from '../../shared/config/environment.ts';
import type { SecretVariable } from '../../shared/config/secrets.ts';
import { UsageError } from './command.ts';

/**
 * Reads a secret without a trace in the shell's history or the list of processes: with `fromStdin` all of stdin (without a
 * trailing line break), else the variable in the environment or `.env`, else a question on the terminal without echo.
 */
export async function readSecret(variable: SecretVariable, fromStdin: boolean): Promise<string> {
  if (fromStdin) return (await text(process.stdin)).replace(/\r?\n$/, '');
  const given = readEnvironment()[variable];
  if (given !== undefined) return given;
  if (!process.stdin.isTTY) throw new UsageError(`Give the secret in ${variable}, or on stdin (see --help).`);
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
