import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Turns } from '../../../gateway/edge/turns.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('turns of the event loop', () => {
  let clock: ManualClock;
  let turns: Turns;
  let served: string[];
  beforeEach(() => {
    clock = new ManualClock();
    turns = new Turns(clock);
    served = [];
  });

  function ask(name: string, connection: object = {}, takesMs = 0): void {
    turns.soon(connection, () => {
      served.push(name);
      clock.turn(takesMs);
    });
  }

  it('a connection is served once in each', async () => {
    const connection = {};

    ask('first', connection);
    ask('second', connection);
    expect(served).to.deep.equal(['first']);
    await setImmediate();

    expect(served).to.deep.equal(['first', 'second']);
  });

  it('what a connection asks while it is served waits for the next one', async () => {
    const connection = {};
    ask('first', connection);
    turns.later(connection, () => {
      served.push('second');
      ask('third', connection);
    });

    await setImmediate();
    expect(served).to.deep.equal(['first', 'second']);
    await setImmediate();

    expect(served).to.deep.equal(['first', 'second', 'third']);
  });

  it('all connections together have 10 ms of each, and come in the order in which they asked', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) ask(name, {}, 6);
    expect(served).to.deep.equal(['a', 'b']);
    await setImmediate();
    ask('f', {}, 6);
    expect(served).to.deep.equal(['a', 'b', 'c', 'd']);

    await setImmediate();
    expect(served).to.deep.equal(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('nobody overtakes those who wait, be there time or not', async () => {
    ask('a', {}, 11);
    ask('b');
    clock.turn(-11);
    ask('c');
    expect(served).to.deep.equal(['a']);

    await setImmediate();
    expect(served).to.deep.equal(['a', 'b', 'c']);
  });

  it('is free again after a turn in which nobody waited', async () => {
    ask('a', {}, 11);
    await setImmediate();

    expect(turns.mayNow({})).to.equal(true);
  });
});
