import { CHAOS_DEFAULTS, causeFaults, seededRandom } from '../../../scripts/chaos/faults.ts';
import type { AppName } from '../../../shared/platform/processes/apps.ts';

/** Above Linux's highest pid (2^22), so that no process gets the signals. */
const NO_PID = 2 ** 23;

describe('causeFaults', () => {
  /** What is killed and paused. `looks`: the living apps at each look; the last list stays. */
  async function faultsAmong(looks: readonly (readonly AppName[])[], kills: number, pauses: number) {
    let look = 0;
    const pids = () => (looks[Math.min(look++, looks.length - 1)] ?? []).map((app) => ({ app, pid: NO_PID }));
    const options = { ...CHAOS_DEFAULTS, kills, pauses, pauseMs: 0, everyMs: 0 };
    const log = await causeFaults(
      { pids },
      options,
      seededRandom(1),
      () => false,
      () => {},
    );
    return { kills: Object.fromEntries(log.kills), pauses: Object.fromEntries(log.pauses) };
  }

  it('does not count a look at which nothing lives', async () => {
    expect(await faultsAmong([[], ['smpp'], [], ['smpp']], 2, 0)).to.deep.equal({ kills: { smpp: 2 }, pauses: {} });
  });

  it('waits with a pause while only the store lives, which is never paused', async () => {
    const { pauses } = await faultsAmong([['embedded-db'], ['embedded-db'], ['embedded-db', 'webhooks']], 1, 1);

    expect(pauses).to.deep.equal({ webhooks: 1 });
  });
});
