import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { startHttpCarrier } from './http-carrier.ts';
import { httpMessageLine, mailLine, providerLine, smscLine, webhookLine } from './lines.ts';
import { startMailbox } from './mailbox.ts';
import { startProvider } from './provider.ts';
import { startReceiver } from './receiver.ts';
import { readCommand, type Settings } from './settings.ts';
import { phoneSays } from './smsc/phone-text.ts';
import { startSmsc } from './smsc.ts';

/** Runs the simulator as a process (see `--help`). SIGINT or SIGTERM ends it with exit code 0. */
async function run(settings: Settings): Promise<void> {
  const print = settings.quiet ? undefined : (line: string) => console.log(line);
  const smsc = await startSmsc({ ...settings.smsc, onEvent: print && ((event) => print(smscLine(event))) });
  const provider = await startProvider({
    ...settings.provider,
    onEvent: print && ((event) => print(providerLine(event))),
  });
  const httpCarrier = await startHttpCarrier({
    ...settings.httpCarrier,
    onMessage: print && ((message) => print(httpMessageLine(message))),
  });
  const mailbox = await startMailbox({ port: settings.mailPort, onMail: print && ((mail) => print(mailLine(mail))) });
  const receiver = await startReceiver({
    port: settings.webhookPort,
    secrets: settings.webhookSecrets,
    onWebhook: print && ((post) => print(webhookLine(post))),
    actions: { '/smsc/says': (url, text) => phoneSays(smsc, url, text) },
    pages: {
      '/mails': () => mailbox.mails(),
      '/smsc': () => ({ ...smsc.stats(), sessions: smsc.sessions() }),
      '/texts': () => smsc.texts().map(({ from, to, text, parts }) => ({ from, to, text, parts: parts.length })),
    },
  });

  const stop = () => {
    Promise.all([smsc.close(), httpCarrier.close(), provider.close(), receiver.close(), mailbox.close()]).then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  // A lost channel means that the starter (such as PM2) is gone, and nobody else would stop this process.
  process.once('disconnect', stop);

  console.log(
    `SMSC on 127.0.0.1:${smsc.port}, chat-app provider on ${provider.url}, webhook receiver on ${receiver.url} (GET / shows what came), mail server on 127.0.0.1:${mailbox.port}, HTTP carrier on ${httpCarrier.url}`,
  );
  process.send?.('ready');
}

function fail(error: unknown): void {
  const busy = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  const message = error instanceof Error ? error.message : String(error);
  console.error(
    busy
      ? `${message}: is another simulator running? See --smsc-port, --http-carrier-port, --chatapp-port, --webhook-port and --mail-port.`
      : message,
  );
  process.exit(1);
}

/** The environment, then `.env` or the file of `HARKARA_ENV_FILE`. Empty variables count as unset. */
function readEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = environment.HARKARA_ENV_FILE ?? '.env';
  const lines = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const set = Object.entries(environment).filter(([, value]) => value !== '');
  return { ...lines, ...Object.fromEntries(set) };
}

const command = readCommand(process.argv.slice(2), readEnvironment(process.env));
switch (command.kind) {
  case 'run':
    run(command.settings).catch(fail);
    break;
  case 'help':
    console.log(command.text);
    break;
  case 'wrong':
    console.error(`${command.text}. Try --help.`);
    process.exitCode = 2;
}
