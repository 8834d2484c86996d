import { expect } from 'chai';
import type { AccountId } from '../../../../shared/runtime/ids.ts';
import { type QueueRead, ReadEnds } from '../../../../workers/smpp/claim/read-ends.ts';

describe('ReadEnds', () => {
  const to = (end: string, alone = true): QueueRead => ({ end: end as AccountId, alone, more: true });
  const last = (end?: string): QueueRead => ({ end: end as AccountId | undefined, alone: true, more: false });
  const knowing = (...accounts: string[]): ReadEnds => {
    const ends = new ReadEnds();
    for (const account of accounts) ends.join([''], [to(account)]);
    return ends;
  };

  it('knows nothing at first: one read, from the beginning of the range', () => {
    expect(new ReadEnds().startsIn({ $gt: 'b' }, 8)).to.deep.equal(['b']);
  });

  it('begins where reads have ended, in order, within the range and no more than are wanted', () => {
    const ends = knowing('f', 'b', 'd', 'h');

    expect(ends.startsIn({ $gt: '' }, 8)).to.deep.equal(['', 'b', 'd', 'f', 'h']);
    expect(ends.startsIn({ $gt: 'b' }, 3)).to.deep.equal(['b', 'd', 'f']);
    expect(ends.startsIn({ $gt: 'b', $lt: 'f' }, 8)).to.deep.equal(['b', 'd']);
    expect(ends.startsIn({ $gt: 'b', $lte: 'f' }, 8)).to.deep.equal(['b', 'd']); // behind f there is nothing
  });

  it('reads that end where the next one began join up', () => {
    const ends = knowing('b', 'd');

    expect(ends.join(['', 'b', 'd'], [to('b'), to('d'), to('f')])).to.equal(3);
    expect(ends.startsIn({ $gt: '' }, 8)).to.deep.equal(['', 'b', 'd', 'f']);
  });

  it('a read that ends at another account is the last that counts, and what began elsewhere is forgotten', () => {
    const ends = knowing('b', 'd');

    expect(ends.join(['', 'b', 'd'], [to('b'), to('c'), to('f')])).to.equal(2);
    expect(ends.startsIn({ $gt: '' }, 8)).to.deep.equal(['', 'b', 'c']);
  });

  it('an account whose few messages end a read is no place to begin at: they will be gone', () => {
    const ends = new ReadEnds();

    expect(ends.join([''], [to('b', false)])).to.equal(1);
    expect(ends.startsIn({ $gt: '' }, 8)).to.deep.equal(['']);
  });

  it('behind a read that was not full there is nothing', () => {
    const ends = knowing('b', 'd');

    expect(ends.join(['', 'b', 'd'], [last('a'), last(), last()])).to.equal(1);
    expect(ends.startsIn({ $gt: '' }, 8)).to.deep.equal(['']);
  });

  it('forgets the oldest of very many', () => {
    const accounts = Array.from({ length: 300 }, (_, i) => String(i).padStart(3, '0'));

    const starts = knowing(...accounts).startsIn({ $gt: '' }, 1_000);

    expect(starts).to.have.length(257);
    expect(starts[1]).to.equal('044');
  });
});
