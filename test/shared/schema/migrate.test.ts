import { expect } from 'chai';
import type { Db } from 'mongodb';
import { LEASE_TTL_MS, type LeaseDocument } from '../../../shared/leases/lease.ts';
import { systemClock as clock } from '../../../shared/runtime/clock.ts';
import { thisProcess } from '../../../shared/runtime/process-identity.ts';
import { ensureSchema } from '../../../shared/schema/migrate.ts';
import { FIRST_SCHEMA, type Step } from '../../../shared/schema/steps.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { silentLog as log } from '../../support/silent-log.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

interface Stored {
  readonly _id: string;
  readonly version?: number;
  readonly walked?: string;
}

describe('the schema of the store', () => {
  let store: TestStore;
  let db: Db;
  beforeEach(async () => {
    store = await openTestStore();
    db = store.db;
  });
  afterEach(() => store.close());

  const schema = () => db.collection<Stored>('store_state').findOne({ _id: 'schema' });
  const numbered = (version: number) => db.collection<Stored>('store_state').insertOne({ _id: 'schema', version });
  const used = () => db.collection<Stored>('accounts').insertOne({ _id: 'acc_1' });

  it('of a store without a number is the newest at once, also when a command of ops came first: no step runs', async () => {
    await used();

    await ensureSchema({ db, clock, log }, [{ to: 2, run: () => Promise.reject(new Error('nothing to migrate')) }]);

    expect(await schema()).to.deep.equal({ _id: 'schema', version: 2 });
  });

  for (const [what, version, told] of [
    ['newer than the program', FIRST_SCHEMA + 1, `knows only ${FIRST_SCHEMA}`],
    ['of a build from before the first release', FIRST_SCHEMA - 1, `begins with ${FIRST_SCHEMA}`],
  ] as const) {
    it(`that is ${what} is refused, and stays as it is`, async () => {
      await numbered(version);

      const refused = await ensureSchema({ db, clock, log }).catch((error: unknown) => error);

      expect(refused).to.be.instanceOf(Error).with.property('code', 'start_failed');
      expect(String(refused)).to.include(`schema ${version}`).and.include(told);
      expect(await schema()).to.deep.equal({ _id: 'schema', version });
    });
  }

  it('is migrated by one of several processes, step by step, while the others wait', async () => {
    await numbered(1);
    const ran: string[] = [];
    let running = 0;
    const step = (to: number, process: number): Step => ({
      to,
      run: async ({ passed }) => {
        running += 1;
        ran.push(`to ${to}, ${running} at work`);
        await passed(`slice of ${process}`);
        running -= 1;
      },
    });
    const identities = [1, 2, 3].map((n) => ({ ...thisProcess(), machine: `machine ${n}` }));

    await Promise.all(
      identities.map((identity, n) => ensureSchema({ db, clock, log, identity }, [step(2, n), step(3, n), step(4, n)])),
    );

    expect(ran).to.deep.equal(['to 2, 1 at work', 'to 3, 1 at work', 'to 4, 1 at work']);
    expect(await schema()).to.deep.equal({ _id: 'schema', version: 4 });
  });

  it('is migrated by one process also while a step takes longer than its lease: the others wait', async () => {
    await numbered(1);
    const turned = new ManualClock();
    const lease = () => db.collection<LeaseDocument>('leases').findOne({ _id: 'schema' });
    let began = 0;
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const step: Step = {
      to: 2,
      run: () => {
        began += 1;
        return ended;
      },
    };
    const identities = [1, 2, 3].map((n) => ({ ...thisProcess(), machine: `machine ${n}` }));
    const all = identities.map((identity) => ensureSchema({ db, clock: turned, log, identity }, [step]));

    await eventually(() => began === 1, 'one begins');
    // Three times as long as the lease lasts by the clock of all of them.
    for (let past = 0; past < 3 * LEASE_TTL_MS; past += LEASE_TTL_MS / 3) {
      const before = await lease();
      turned.turn(LEASE_TTL_MS / 3);
      await eventually(async () => (await lease())?.until.getTime() !== before?.until.getTime(), 'it is renewed');
    }
    end();
    await Promise.all(all);

    expect(began).to.equal(1);
    expect((await schema())?.version).to.equal(2);
  });

  it('is migrated on from where an interrupted step had come to', async () => {
    await numbered(2);
    const walked: (string | undefined)[] = [];
    const step = (breaks: boolean): Step => ({
      to: 3,
      run: async (deps) => {
        walked.push(deps.walked);
        await deps.passed('m');
        if (breaks) throw new Error('killed here');
      },
    });
    const interrupted = await ensureSchema({ db, clock, log }, [step(true)]).catch((error: unknown) => error);
    const between = await schema();

    await ensureSchema({ db, clock, log }, [step(false)]);

    expect(String(interrupted)).to.include('killed here');
    expect(between).to.deep.equal({ _id: 'schema', version: 2, walked: 'm' });
    expect(walked).to.deep.equal([undefined, 'm']);
    expect(await schema()).to.deep.equal({ _id: 'schema', version: 3 });
  });
});
