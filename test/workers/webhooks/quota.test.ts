import { expect } from 'chai';
import { IN_FLIGHT_MAX, type InFlight, reachedLimit, SLOW_MAX } from '../../../workers/webhooks/quota.ts';

/** Accounts with endpoints at destinations. All of them want more posts than they ever get. */
class World {
  readonly counts = new Map<string, number>();
  readonly slowOnes = new Set<string>();

  inFlight(account: string, destination: string, endpoint: string): InFlight {
    const of = (name: string) => this.counts.get(name) ?? 0;
    return {
      all: of('all'),
      slow: of('slow'),
      account: of(account),
      destination: of(destination),
      accountThere: of(`${account} ${destination}`),
      endpoint: of(endpoint),
    };
  }

  /** Starts one more post if it may; then it stays in flight for ever. Gives whether it started. */
  start(account: string, destination: string, endpoint: string, { most = 8, slow = false } = {}): boolean {
    if (reachedLimit(this.inFlight(account, destination, endpoint), most, slow) !== undefined) return false;
    for (const name of [
      'all',
      account,
      destination,
      `${account} ${destination}`,
      endpoint,
      ...(slow ? ['slow'] : []),
    ]) {
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    }
    return true;
  }

  /** Lets `count` askers ask in turn, the n-th by `ask(n)`, until none of them gets any more. */
  greedy(count: number, ask: (n: number) => boolean): void {
    for (let got = true; got; ) {
      got = false;
      for (let n = 0; n < count; n++) got = ask(n) || got;
    }
  }
}

describe('webhooks worker: what may start', () => {
  it('an account that is alone has all that its ten endpoints may have in flight', () => {
    const world = new World();

    world.greedy(10, (n) => world.start('a', `d${n}`, `e${n}`));

    expect(world.counts.get('a')).to.equal(80);
  });

  it('nobody alone has more than a quarter: not an account with however many endpoints, not an address with one account', () => {
    for (const destinations of [1, 1_000]) {
      const world = new World();

      world.greedy(1_000, (n) => world.start('a', `d${n % destinations}`, `e${n}`, { most: 100 }));

      expect(world.counts.get('a')).to.be.within(IN_FLIGHT_MAX / 5, IN_FLIGHT_MAX / 4);
    }
  });

  for (const accounts of [1, 2, 5, 20, 60, 200]) {
    it(`${accounts} accounts that want everything get the same, and leave room for who comes next`, () => {
      const world = new World();

      world.greedy(accounts * 10, (n) => world.start(`a${n % accounts}`, `d${n}`, `e${n}`, { most: 100 }));

      const counts = Array.from({ length: accounts }, (_, n) => world.counts.get(`a${n}`) ?? 0);
      expect(Math.max(...counts) - Math.min(...counts)).to.be.at.most(1);
      expect(world.counts.get('all')).to.be.below(IN_FLIGHT_MAX);
      expect(world.start('newcomer', 'elsewhere', 'e')).to.equal(true);
    });
  }

  for (const endpoints of [1, 10]) {
    it(`60 accounts with ${endpoints} at one address leave others their addresses, and an account there its first post`, () => {
      const world = new World();

      world.greedy(60 * endpoints, (n) => world.start(`a${n % 60}`, 'd', `e${n}`));

      expect(world.counts.get('d')).to.be.within(60, IN_FLIGHT_MAX / 4);
      expect(world.start('newcomer', 'd', 'e')).to.equal(true);
      expect(world.start('newcomer', 'd', 'e')).to.equal(false);
      expect(world.start('newcomer', 'elsewhere', 'other')).to.equal(true);
    });
  }

  it('slow endpoints get less, never all, and always one', () => {
    const world = new World();
    world.greedy(10, (n) => world.start('a', `d${n}`, `e${n}`, { slow: true }));
    expect(world.counts.get('a')).to.be.within(30, 50);

    world.greedy(5_000, (n) => world.start(`a${n}`, `d${n}`, `e${n}`, { slow: true }));

    expect(world.counts.get('slow')).to.equal(SLOW_MAX);
    expect(world.start('newcomer', 'elsewhere', 'e')).to.equal(true);
    for (let n = 0; n < 300; n++) {
      const early = new World();
      early.counts.set('all', n).set('slow', n);
      expect(early.start('a', 'd', 'e', { slow: true }), `beside ${n}`).to.equal(true);
    }
  });

  it('says what is full', () => {
    const none: InFlight = { all: 0, slow: 0, account: 0, destination: 0, accountThere: 0, endpoint: 0 };

    expect(reachedLimit(none, 1, false)).to.equal(undefined);
    expect(reachedLimit({ ...none, all: IN_FLIGHT_MAX }, 8, false)).to.equal('process');
    expect(reachedLimit({ ...none, endpoint: 8 }, 8, false)).to.equal('endpoint');
    expect(reachedLimit({ ...none, all: SLOW_MAX, slow: SLOW_MAX }, 8, true)).to.equal('slow');
    expect(reachedLimit({ ...none, all: 200, account: 200 }, 8, false)).to.equal('account');
    expect(reachedLimit({ ...none, all: 200, destination: 200, accountThere: 1 }, 8, false)).to.equal('destination');
    expect(reachedLimit({ ...none, all: 200, destination: 200 }, 8, false)).to.equal(undefined);
  });
});
