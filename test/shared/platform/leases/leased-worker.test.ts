import { Lease } from '../../../../shared/platform/leases/lease.ts';
import { Partitions } from '../../../../shared/platform/leases/leased-worker.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const PARTITION_COUNT = 8;

describe('partitions by lease', () => {
  const store = useStore();
  let workers = 1;
  const open: Partitions[] = [];
  /** The machines of workers that got more partitions. */
  let gained: string[] = [];

  afterEach(async () => {
    for (const partitions of open.splice(0)) await partitions.stop();
    workers = 1;
    gained = [];
  });

  /** A worker on its own machine: nobody can see whether its process still lives. */
  async function worker(
    machine: string,
    isBusy: (partition: number) => boolean = () => false,
    roundMs = 20,
  ): Promise<Partitions> {
    const identity = { machine, pid: 1, startedAt: '1' };
    const partitions = new Partitions({
      onGained: () => void gained.push(machine),
      leases: Array.from(
        { length: PARTITION_COUNT },
        (_, n) => new Lease({ name: `webhooks:${n}`, db: store.db, clock: systemClock, identity }),
      ),
      clock: systemClock,
      log: silentLog,
      countWorkers: async () => workers,
      isBusy,
      roundMs,
    });
    open.push(partitions);
    await partitions.start();
    return partitions;
  }

  it('one worker takes all partitions at its start', async () => {
    const only = await worker('a');

    expect(only.held).to.equal(PARTITION_COUNT);
    expect(only.first).to.equal(true);
    for (let n = 0; n < 100; n++) expect(only.owns(newId('whk'))).to.equal(true);
  });

  it('two workers come to half each, and no endpoint has two owners or, in the end, none', async () => {
    const first = await worker('a');
    const endpoints = Array.from({ length: 200 }, () => newId('whk'));
    workers = 2;
    const second = await worker('b');

    await eventually(() => {
      for (const endpoint of endpoints) {
        expect([first, second].filter((worker) => worker.owns(endpoint)).length, 'owners').to.be.below(2);
      }
      return first.held === PARTITION_COUNT / 2 && second.held === PARTITION_COUNT / 2;
    }, 'half each');
    for (const endpoint of endpoints) {
      expect([first, second].filter((worker) => worker.owns(endpoint))).to.have.length(1);
    }
  });

  it('a partition is given away only when nothing of it is in hand', async () => {
    const busy = new Set(Array.from({ length: PARTITION_COUNT }, (_, n) => n));
    const first = await worker('a', (partition) => busy.has(partition));
    workers = 2;
    const second = await worker('b');
    const endpoints = Array.from({ length: 200 }, () => newId('whk'));

    // The first worker starts nothing more in partitions to give away, but keeps their leases until their work is done.
    await eventually(() => endpoints.some((endpoint) => !first.owns(endpoint)), 'leaving');
    expect(first.held).to.equal(PARTITION_COUNT);
    expect(second.held).to.equal(0);

    busy.clear();
    await eventually(() => second.held === PARTITION_COUNT / 2, 'handed over');
  });

  it('a partition that is given away has its new owner before a round is over', async () => {
    const roundMs = 5_000;
    const first = await worker('a', undefined, roundMs);
    workers = 2;
    const second = await worker('b', undefined, roundMs);
    const endpoints = Array.from({ length: 200 }, () => newId('whk'));
    const unowned = () => endpoints.filter((endpoint) => !first.owns(endpoint) && !second.owns(endpoint));

    await eventually(() => unowned().length > 0, 'leaving', 2 * roundMs);

    await eventually(() => unowned().length === 0, 'handed over', roundMs - 100);
    expect([first.held, second.held]).to.deep.equal([PARTITION_COUNT / 2, PARTITION_COUNT / 2]);
  });

  it('what nobody takes comes back', async () => {
    workers = 2;
    const only = await worker('a');
    await eventually(() => only.held < PARTITION_COUNT, 'given away');
    workers = 1;

    await eventually(() => only.held === PARTITION_COUNT, 'taken again');
  });

  it('a worker that stops leaves its partitions to the others at once', async () => {
    const first = await worker('a');
    workers = 2;
    const second = await worker('b');
    await eventually(() => second.held > 0, 'shared');
    workers = 1;
    const before = gained.length;

    await first.stop();

    await eventually(() => second.held === PARTITION_COUNT, 'all taken');
    expect(gained.slice(before), 'told of what it took').to.include('b');
  });

  it('a worker that keeps what it has is told of nothing', async () => {
    let asked = 0;
    await worker('a', () => {
      asked += 1;
      return true;
    });
    expect(gained).to.deep.equal(['a']);

    workers = 2;
    await eventually(() => asked >= 3 * PARTITION_COUNT, 'rounds');

    expect(gained).to.deep.equal(['a']);
  });

  it('spreads endpoints over all partitions, always the same way', async () => {
    const [one, other] = [await worker('a'), await worker('b')];
    const counts = new Array<number>(PARTITION_COUNT).fill(0);
    for (let n = 0; n < 8_000; n++) {
      const partition = one.of(`whk_${n}`);
      counts[partition] = (counts[partition] ?? 0) + 1;
    }

    for (const count of counts) expect(count).to.be.within(700, 1_300);
    expect(one.of('whk_01jd8x')).to.equal(other.of('whk_01jd8x'));
  });
});
