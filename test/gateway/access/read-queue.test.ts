import { ReadQueue } from '../../../gateway/access/costly-reads.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Reads that the test ends one by one, in the order in which they began. */
class Reads {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  read(name: string): () => Promise<string> {
    return async () => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.#ends.set(name, resolve));
      return name;
    };
  }

  async haveBegun(...names: readonly string[]): Promise<void> {
    await eventually(() => names.length <= this.begun.length, `${names} have begun`);
    expect(this.begun).to.deep.equal(names);
  }

  end(name: string): void {
    this.#ends.get(name)?.();
  }
}

describe('reads that cost the store much', () => {
  it('have one at a time of each account, in the order in which they came', async () => {
    const queue = new ReadQueue<string>();
    const reads = new Reads();
    for (const name of ['a1', 'a2', 'a3']) void queue.run('a', name, reads.read(name));

    await reads.haveBegun('a1');
    reads.end('a1');
    await reads.haveBegun('a1', 'a2');
    reads.end('a2');
    await reads.haveBegun('a1', 'a2', 'a3');
  });

  it('are three of all accounts together, the accounts by turns', async () => {
    const queue = new ReadQueue<string>();
    const reads = new Reads();
    for (const account of ['a', 'b', 'c', 'd', 'e']) {
      for (const i of [1, 2]) void queue.run(account, `${account}${i}`, reads.read(`${account}${i}`));
    }

    await reads.haveBegun('a1', 'b1', 'c1');
    reads.end('a1');
    await reads.haveBegun('a1', 'b1', 'c1', 'd1');
    reads.end('b1');
    await reads.haveBegun('a1', 'b1', 'c1', 'd1', 'e1');
    reads.end('c1');
    await reads.haveBegun('a1', 'b1', 'c1', 'd1', 'e1', 'a2');
  });

  it('pause as long as they take, twice, while those of other accounts begin', async () => {
    const clock = new ManualClock();
    const queue = new ReadQueue<string>(clock);
    const reads = new Reads();
    void queue.run('a', 'a1', reads.read('a1'));
    void queue.run('a', 'a2', reads.read('a2'));
    await reads.haveBegun('a1');
    clock.turn(40);
    const endedMs = performance.now();
    reads.end('a1');
    void queue.run('b', 'b1', reads.read('b1'));

    await reads.haveBegun('a1', 'b1', 'a2');

    expect(performance.now() - endedMs).to.be.at.least(79);
  });

  it('of one account and name are one, unless it has begun', async () => {
    const queue = new ReadQueue<string>();
    const reads = new Reads();
    const first = queue.run('a', 'list', reads.read('list'));
    await reads.haveBegun('list');
    const later = [1, 2, 3].map(() => queue.run('a', 'list', reads.read('list again')));
    const other = queue.run('b', 'list', reads.read('list of b'));
    await reads.haveBegun('list', 'list of b');

    reads.end('list');
    await reads.haveBegun('list', 'list of b', 'list again');
    reads.end('list again');
    reads.end('list of b');

    expect(await first).to.equal('list');
    expect(await Promise.all(later)).to.deep.equal(Array.from({ length: 3 }, () => 'list again'));
    expect(await other).to.equal('list of b');
  });

  it('that fail are told to all who asked, and the next one begins', async () => {
    const queue = new ReadQueue<string>();
    const fail = async (): Promise<string> => {
      throw new Error('the store is away');
    };
    const failed = await Promise.allSettled([queue.run('a', 'x', fail), queue.run('a', 'x', fail)]);

    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await queue.run('a', 'x', async () => 'well')).to.equal('well');
  });
});
