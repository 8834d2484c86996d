import { ACCOUNT_CONDITIONS } from './accounts.ts';
import { CARRIER_CONDITIONS } from './carriers.ts';
import type { Condition } from './condition.ts';
import { INSTALLATION_CONDITIONS } from './installation.ts';

/** What the watch looks for in the installation (workers/maintenance/watch.ts). */
export const WATCHED = { ...INSTALLATION_CONDITIONS, ...CARRIER_CONDITIONS };

/** What whoever reads the conditions looks for: the watch cannot tell that it is gone. */
export const READ = {
  'watch.stopped': {
    title: 'Nobody looks for what is wrong',
    how: 'No process has looked for a minute: the background process does not run, or its store fails.',
    concerns: {
      operator: {
        severity: 'urgent',
        todo: '`npx pm2 ls` shows whether background runs, `~/.pm2/logs/background-out.log` has `duty_failed` with the reason. Until then everything else that is shown here may be out of date.',
      },
    },
    find: ({ watchedAt, now }) => {
      if (watchedAt !== undefined && now.getTime() - watchedAt.getTime() < WATCHED_MS) return [];
      const words = 'No process looks for what is wrong: what is shown may be out of date.';
      return [{ subject: { kind: 'process', id: 'background' }, words, since: watchedAt }];
    },
  },
} satisfies Readonly<Record<string, Condition<{ readonly watchedAt: Date | undefined; readonly now: Date }>>>;

/** The watch looks every ten seconds. */
const WATCHED_MS = 60_000;

/** Every condition, by its name. */
export const CONDITIONS = { ...WATCHED, ...READ, ...ACCOUNT_CONDITIONS };

export type ConditionName = keyof typeof CONDITIONS;
