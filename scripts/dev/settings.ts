import { createServer } from 'node:net';
import { readEnvironment } from '../../shared/platform/config/environment.ts';
import { type Config, loadConfig } from '../../shared/platform/config/settings.ts';
import { StartError } from '../../shared/platform/runtime/lifecycle.ts';
import type { RunFiles } from './run.ts';

/** The configured settings, with changes for a demonstration on this machine. */
export interface RunSettings {
  readonly config: Config;
  /** The same for the processes that PM2 starts. */
  readonly env: NodeJS.ProcessEnv;
}

/** Variables that would make PM2 contact its vendor's service, or treat this program as one that it started. */
const PM2_VARIABLES = /^(PM2_|KEYMETRICS_|pm_id$|pm2_|SECRET_KEY$|PUBLIC_KEY$)/;

/** Checks the ports, turns the simulator on, and allows webhooks to this machine. Throws `StartError`. */
export async function runSettings(files: RunFiles): Promise<RunSettings> {
  const config = loadConfig(readEnvironment());
  const port = await freePort(config.host, config.port, 'HARKARA_PORT');
  const smscPort = await freePort('127.0.0.1', config.simulatorSmscPort, 'HARKARA_SIMULATOR_SMSC_PORT');
  const httpPort = await freePort('127.0.0.1', config.simulatorHttpCarrierPort, 'HARKARA_SIMULATOR_HTTP_CARRIER_PORT');
  const chatappPort = await freePort('127.0.0.1', config.simulatorChatappPort, 'HARKARA_SIMULATOR_CHATAPP_PORT');
  const webhookPort = await freePort('127.0.0.1', config.simulatorWebhookPort, 'HARKARA_SIMULATOR_WEBHOOK_PORT');
  const mailPort = await freePort('127.0.0.1', config.simulatorMailPort, 'HARKARA_SIMULATOR_MAIL_PORT');
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !PM2_VARIABLES.test(name))),
    HARKARA_DATA_DIR: files.dataDir,
    HARKARA_SIMULATOR: 'on',
    HARKARA_PORT: String(port),
    HARKARA_SIMULATOR_SMSC_PORT: String(smscPort),
    HARKARA_SIMULATOR_HTTP_CARRIER_PORT: String(httpPort),
    HARKARA_SIMULATOR_CHATAPP_PORT: String(chatappPort),
    HARKARA_SIMULATOR_WEBHOOK_PORT: String(webhookPort),
    HARKARA_SIMULATOR_MAIL_PORT: String(mailPort),
    ...(config.smtpHost === '' && mailboxSettings(mailPort)),
    HARKARA_WEBHOOK_ALLOW_HTTP: 'yes',
    HARKARA_WEBHOOK_ALLOW_SUBNETS: [...config.webhookAllowSubnets, `127.0.0.1:${webhookPort}`].join(','),
    PM2_HOME: files.pm2Home,
    PM2_DEFAULT_LOG_PATH: files.logs,
    PM2_DISABLE_VERSION_CHECK: 'true',
    // PM2 may start and stop all processes at once: each waits for the store, and at the end the store waits for them.
    PM2_CONCURRENT_ACTIONS: '16',
  };
  return { config: loadConfig(readEnvironment(env)), env };
}

/** The simulator shows mails and passes none on. */
function mailboxSettings(port: number): NodeJS.ProcessEnv {
  return {
    HARKARA_SMTP_HOST: '127.0.0.1',
    HARKARA_SMTP_PORT: String(port),
    HARKARA_SMTP_TLS: 'none',
    HARKARA_MAIL_FROM: 'Harkara <no-reply@harkara.example>',
  };
}

/** Returns the port, or a free one for 0. Throws `StartError` before PM2 restarts a process over and over. */
export async function freePort(host: string, port: number, setting: string): Promise<number> {
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new StartError(
        `Port ${port} is taken by another program: choose a free one, ${setting}=${port + 1} npm start.`,
      );
    }
    throw new StartError(
      `Cannot listen on ${host}:${port} (${setting}): ${error instanceof Error ? error.message : error}.`,
    );
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
