import { deliveriesOf, findDueInRange, findDueOf, type Stored } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointId } from '../../../shared/platform/runtime/ids.ts';
import { DueFinder } from '../../../workers/webhooks/find-due.ts';
import { makeDelivery } from '../../shared/events/webhooks/make.ts';
import { useStore } from '../../support/store.ts';

describe('webhooks worker: find due', () => {
  const store = useStore();
  let reads: number;
  let readOver: number;
  let taken: Map<string, Stored>;
  let full: Set<EndpointId>;
  let foreign: Set<EndpointId>;
  let finder: DueFinder;

  beforeEach(async () => {
    await store.db.collection('deliveries').deleteMany({});
    reads = 0;
    readOver = 0;
    taken = new Map();
    full = new Set();
    foreign = new Set();
    finder = new DueFinder({
      findInRange: async (range, limit) => {
        reads++;
        const page = await findDueInRange(store.db, range, limit);
        readOver += page.length;
        return page;
      },
      findOf: async (endpoints, limit) => {
        reads++;
        const due = await findDueOf(store.db, endpoints, limit);
        readOver += due.length;
        return due;
      },
      owns: (endpoint) => !foreign.has(endpoint),
      wanted: (endpoint) => (full.has(endpoint) ? 0 : 100 + countOf(endpoint)),
      take: (delivery) => {
        if (taken.has(delivery._id) || full.has(delivery.endpoint)) return false;
        taken.set(delivery._id, delivery);
        return true;
      },
    });
  });

  function countOf(endpoint: EndpointId): number {
    return [...taken.values()].filter((delivery) => delivery.endpoint === endpoint).length;
  }

  async function backlog(endpoint: EndpointId, count: number): Promise<void> {
    await deliveriesOf(store.db).insertMany(Array.from({ length: count }, () => makeDelivery({ endpoint })));
  }

  it('one read finds everything while there is little', async () => {
    for (let n = 0; n < 50; n++) await backlog(`whk_${n}`, 2);

    expect(await finder.round()).to.equal(100);
    expect(reads).to.equal(1);
    expect(await finder.round()).to.equal(0);
  });

  it('one read goes on finding everything while receivers are slow with a few', async () => {
    const busy = Array.from({ length: 5 }, (_, n): EndpointId => `whk_busy${n}`);
    for (let round = 1; round <= 3; round++) {
      for (const endpoint of busy) await backlog(endpoint, 10);
      reads = 0;

      expect(await finder.round()).to.equal(50);
      expect(reads).to.equal(1);
    }
  });

  it('who has many in hand is read separately, and together with the others again when little is due', async () => {
    await backlog('whk_busy', 40);
    await finder.round();
    await finder.round(); // Shows that all 40 are held.
    await backlog('whk_busy', 100);
    await backlog('whk_z', 1);
    reads = 0;
    expect(await finder.round()).to.equal(101);
    expect(reads).to.equal(3); // The gaps before and after it, and its own.

    await deliveriesOf(store.db).deleteMany({}); // All are completed.
    taken.clear();
    for (let round = 1; round <= 3; round++) {
      await backlog('whk_busy', 10);
      await backlog('whk_z', 1);
      reads = 0;
      expect(await finder.round()).to.equal(11);
    }
    expect(reads).to.equal(1);
  });

  it('finds all that is due, however it is spread over pages', async () => {
    const counts: readonly (readonly [EndpointId, number])[] = [
      ['whk_a', 200],
      ['whk_b', 100],
      ['whk_c', 1],
      ['whk_d', 255],
      ['whk_e', 256],
      ['whk_f', 3],
      ['whk_g', 300],
      ['whk_h', 1],
    ];
    for (const [endpoint, count] of counts) await backlog(endpoint, count);

    let rounds = 0;
    while ((await finder.round()) > 0) rounds++;

    expect(taken.size).to.equal(counts.reduce((sum, [, count]) => sum + count, 0));
    expect(rounds).to.be.below(20);
  });

  it('an endpoint behind several large backlogs is found in the first round', async () => {
    for (const endpoint of ['whk_a', 'whk_b', 'whk_c'] as const) await backlog(endpoint, 1_000);
    await backlog('whk_z', 1);

    await finder.round();

    expect(countOf('whk_z')).to.equal(1);
  });

  it('a backlog that nobody wants more of is not read again', async () => {
    await backlog('whk_dead', 2_000);
    await finder.round();
    full.add('whk_dead');
    await finder.round();
    await backlog('whk_a', 1);
    await backlog('whk_z', 1);
    reads = 0;

    await finder.round();

    expect(countOf('whk_a')).to.equal(1);
    expect(countOf('whk_z')).to.equal(1);
    expect(reads).to.equal(2); // The gaps before and after it.
  });

  it('nor are many smaller ones, of receivers that are slow', async () => {
    const slow = Array.from({ length: 20 }, (_, n): EndpointId => `whk_slow${n}`);
    for (const endpoint of slow) await backlog(endpoint, 200);
    for (let round = 0; round < 8; round++) await finder.round();
    for (const endpoint of slow) full.add(endpoint);
    await finder.round();
    await backlog('whk_slow10a', 1);
    await backlog('whk_z', 1);
    readOver = 0;

    await finder.round();

    expect(countOf('whk_slow10a')).to.equal(1);
    expect(countOf('whk_z')).to.equal(1);
    expect(readOver).to.equal(2);
  });

  it('of what two hundred slow receivers wait for, a round reads a part; who had something last is found in each', async () => {
    const slow = Array.from({ length: 200 }, (_, n): EndpointId => `whk_slow${n}`);
    for (const [n, endpoint] of slow.entries()) await backlog(endpoint, n % 2 === 0 ? 20 : 5);
    await backlog('whk_known', 1);
    for (let round = 0; round < 20; round++) await finder.round();
    expect(taken.size).to.equal(100 * 25 + 1);
    for (const endpoint of slow) full.add(endpoint);

    for (let n = 2; n < 12; n++) {
      await backlog('whk_known', 1);
      [reads, readOver] = [0, 0];
      await finder.round();
      expect(countOf('whk_known')).to.equal(n);
      expect(reads).to.be.below(50);
      expect(readOver).to.be.below(500);
    }
  });

  it('and whoever had nothing for long is found within some rounds', async () => {
    for (let n = 0; n < 100; n++) await backlog(`whk_slow${n}`, 20);
    for (let round = 0; round < 20; round++) await finder.round();
    for (let n = 0; n < 100; n++) full.add(`whk_slow${n}`);
    await backlog('whk_a', 1);
    await backlog('whk_slow50a', 1);
    await backlog('whk_z', 1);

    for (let round = 0; round < 5; round++) await finder.round();

    for (const endpoint of ['whk_a', 'whk_slow50a', 'whk_z'] as const) expect(countOf(endpoint)).to.equal(1);
  });

  it('a backlog goes on being read as its queue wants more', async () => {
    await backlog('whk_big', 1_000);

    for (let round = 0; round < 12; round++) await finder.round();

    expect(countOf('whk_big')).to.equal(1_000);
  });

  it('takes nothing of other processes’ endpoints, and finds its own behind theirs', async () => {
    foreign.add('whk_b');
    await backlog('whk_b', 1_000);
    await backlog('whk_c', 1);

    await finder.round();
    await finder.round();

    expect([...taken.values()].map(({ endpoint }) => endpoint)).to.deep.equal(['whk_c']);
  });

  it('reads a few of another process’ endpoint once, and then walks around them', async () => {
    foreign.add('whk_b');
    await backlog('whk_b', 8);
    await backlog('whk_c', 1);
    await finder.round();
    readOver = 0;

    await finder.round();

    expect(readOver).to.equal(1); // That of whk_c, which is still due.
  });

  it('an endpoint that becomes ours is found though its backlog was walked around', async () => {
    foreign.add('whk_b');
    await backlog('whk_b', 1_000);
    await finder.round();
    foreign.clear();

    await finder.round();

    expect(countOf('whk_b')).to.be.above(0);
  });
});
