import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type Asked, listen, trigger } from './listen.ts';

/**
 * `npm run listen -- http://localhost:8080/hook`: posts the account's events to a local program without a public
 * address, signed as webhooks are. It only uses the API, so it works with any gateway.
 */
const KEY_OF_START = `${process.env.HARKARA_DATA_DIR ?? 'data'}/npm-start.key`;

/** Not an option, because options are visible in the process list. */
function keyOfUser(): string {
  const key = process.env.HARKARA_KEY ?? (existsSync(KEY_OF_START) ? readFileSync(KEY_OF_START, 'utf8') : '');
  if (key.trim() !== '') return key.trim();
  throw new Error('Put your API key (scope read) into the environment: HARKARA_KEY=hk_live_… npm run listen -- URL');
}

interface Options {
  readonly gateway: string;
  readonly event?: string[];
  readonly eventsPerPost: string;
}

const program = new Command('listen')
  .description('Posts the events of your account to a program on this machine, signed as webhooks are.')
  .argument('<url>', 'where your program listens, like http://localhost:8080/hook')
  .option('--gateway <url>', 'the gateway', process.env.HARKARA_URL ?? 'http://127.0.0.1:3000')
  .option('--event <name...>', 'only these kinds of events')
  .option('--events-per-post <n>', 'above 1: arrays of so many events at most, as such a webhook gets them', '1')
  .addHelpText(
    'after',
    '\nThe key is read from HARKARA_KEY, or is that of `npm start` in this folder.\nnpm run listen -- trigger message.delivered URL posts an example of an event.',
  )
  .action((url: string, options: Options) =>
    run(url, options, (asked) =>
      listen(asked, options.event ?? [], Math.max(1, Math.trunc(Number(options.eventsPerPost)) || 1)),
    ),
  );

program
  .command('trigger')
  .description('Posts an example of one event, without anything happening.')
  .argument('<event>', 'like message.delivered')
  .argument('<url>')
  .action((event: string, url: string, _options: object, command: Command) =>
    run(url, command.optsWithGlobals<Options>(), (asked) => trigger(asked, event)),
  );

async function run(url: string, { gateway }: Options, work: (asked: Asked) => Promise<void>): Promise<void> {
  try {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
    await work({ to: new URL(url), gateway: new URL(gateway), key: keyOfUser(), tell: console.log, stop: stop.signal });
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

await program.parseAsync();
