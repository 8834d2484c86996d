import { type AppDeps, openSecretBox } from '../../shared/platform/processes/run-app.ts';
import { mailMisconfigured } from './server.ts';
import { MailWorker } from './worker.ts';

/** Without a mail server nothing runs: what is to be mailed waits in the store until it is of no use any more. */
export async function startMail(deps: AppDeps): Promise<void> {
  const { config, db, log, life } = deps;
  if (config.smtpHost === '') return;
  const wrong = mailMisconfigured(config);
  if (wrong !== undefined) {
    log.error('mail_misconfigured', { what_to_do: wrong });
    return;
  }
  const worker = new MailWorker({ ...deps, box: await openSecretBox(config, db) });
  worker.start();
  life.onStop('worker', () => worker.stop());
}
