import { ACCOUNT_CONDITIONS } from './accounts.ts';
import { CARRIER_CONDITIONS } from './carriers.ts';
import type { Condition } from './condition.ts';
import { INSTALLATION_CONDITIONS } from './installation.ts';

/** Found by the watch (workers/maintenance/watch.ts). */
export const WATCHED = { ...INSTALLATION_CONDITIONS, ...CARRIER_CONDITIONS };

/** Found by whoever reads the conditions: the watch cannot tell that it is gone itself. */
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
    find: ({ watchedAt, startedAt, now }) => {
      // The last moment at which somebody could have looked.
      const sinceMs = Math.max(watchedAt?.getTime() ?? 0, startedAt?.getTime() ?? 0);
      if (now.getTime() - sinceMs < WATCHED_MS) return [];
      const words = 'No process looks for what is wrong: what is shown may be out of date.';
      return [
        { subject: { kind: 'process', id: 'background' }, words, since: sinceMs === 0 ? now : new Date(sinceMs) },
      ];
    },
  },
} satisfies Readonly<Record<string, Condition<WatchSeen>>>;

interface WatchSeen {
  /** When a process last looked. Undefined: none did, as far as is known. */
  readonly watchedAt: Date | undefined;
  readonly startedAt: Date | undefined;
  readonly now: Date;
}

/** The watch looks every ten seconds. */
const WATCHED_MS = 60_000;

export const CONDITIONS = { ...WATCHED, ...READ, ...ACCOUNT_CONDITIONS };

export type ConditionName = keyof typeof CONDITIONS;
