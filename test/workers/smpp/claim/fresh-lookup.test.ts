import { expect } from 'chai';
import { FreshLookup } from '../../../../workers/smpp/claim/fresh-lookup.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('FreshLookup', () => {
  const open = (maxEntries = 10) => {
    const clock = new ManualClock();
    const asked: (readonly string[])[] = [];
    const there = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    const lookup = new FreshLookup<string, number>({
      clock,
      freshMs: 1_000,
      maxEntries,
      read: async (keys) => {
        asked.push(keys);
        return new Map(keys.flatMap((key) => (there.has(key) ? [[key, there.get(key) ?? 0] as const] : [])));
      },
    });
    return { clock, asked, there, lookup };
  };

  it('asks once for each key, also for one that is not there', async () => {
    const { asked, lookup } = open();

    await lookup.get(['a', 'x', 'a']);
    const found = await lookup.get(['x', 'a', 'b']);

    expect([...found]).to.have.deep.members([
      ['a', 1],
      ['b', 2],
    ]);
    expect(asked).to.deep.equal([['a', 'x'], ['b']]);
  });

  it('asks again when an answer is old', async () => {
    const { clock, there, lookup } = open();
    await lookup.get(['a']);
    there.set('a', 5);

    clock.turn(999);
    expect((await lookup.get(['a'])).get('a')).to.equal(1);
    clock.turn(1);
    expect((await lookup.get(['a'])).get('a')).to.equal(5);
  });

  it('tells everything that was asked for, also when it remembers less', async () => {
    const { asked, lookup } = open(1);

    expect((await lookup.get(['a', 'b'])).size).to.equal(2);
    await lookup.get(['b']);
    await lookup.get(['a']);

    expect(asked).to.deep.equal([['a', 'b'], ['a']]);
  });

  it('does not remember that it could not ask', async () => {
    let fails = true;
    const lookup = new FreshLookup<string, number>({
      clock: new ManualClock(),
      freshMs: 1_000,
      maxEntries: 10,
      read: async (keys) => {
        if (fails) throw new Error('the store is away');
        return new Map(keys.map((key) => [key, 1]));
      },
    });
    const failed = await lookup.get(['a']).catch((error: unknown) => error);
    fails = false;

    expect(failed).to.be.an('error');
    expect((await lookup.get(['a'])).get('a')).to.equal(1);
  });
});
