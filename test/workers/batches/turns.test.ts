import { type BatchDocument, batchCollection } from '../../../shared/messages/batch.ts';
import type { AccountId, BatchId } from '../../../shared/platform/runtime/ids.ts';
import { openBatches, stoppingBatches, Turns } from '../../../workers/batches/turns.ts';
import { makeBatch } from '../../support/batches.ts';
import { lookedAt } from '../../support/looked-at.ts';
import { useStore } from '../../support/store.ts';

/** Batches read in one look. */
const PAGE = 200;

const accountOf = (letter: string): AccountId => `acc_${letter}`;

describe('batches worker: whose turn it is', () => {
  const store = useStore();
  afterEach(() => batchCollection(store.db).deleteMany({}));

  /** Inserts that many batches for each account letter, with ids in this order. */
  async function insert(counts: Readonly<Record<string, number>>, as: Partial<BatchDocument> = { state: 'paid' }) {
    const batches = Object.entries(counts).flatMap(([letter, count]) =>
      Array.from({ length: count }, (_, i) =>
        makeBatch(accountOf(letter), 1, { ...as, _id: `bat_${letter}${String(i).padStart(4, '0')}` as BatchId }),
      ),
    );
    await batchCollection(store.db).insertMany(batches);
  }
  const turnsOf = () => new Turns((place) => openBatches(store.db, place));
  /** Each look's batches, until the first account has its next turn. */
  async function walk(turns: Turns, takes: (batch: BatchDocument) => boolean = () => true): Promise<string[][]> {
    const looks: string[][] = [];
    for (let underway = true; underway; ) {
      const look = await turns.look(takes);
      looks.push(look.turns.map(({ _id }) => _id.slice('bat_'.length)));
      underway = look.underway;
    }
    return looks;
  }

  it('is that of the oldest batch of each account, of four accounts at a time', async () => {
    await insert({ a: 2, b: 1, c: 3, d: 1, e: 2, f: 1 });
    const turns = turnsOf();

    expect(await walk(turns)).to.deep.equal([
      ['a0000', 'b0000', 'c0000', 'd0000'],
      ['e0000', 'f0000'],
    ]);
    expect((await walk(turns))[0]).to.deep.equal(['a0000', 'b0000', 'c0000', 'd0000']);
  });

  it('comes to an account first that had to wait for room, when the walk begins anew', async () => {
    await insert({ a: 1, b: 1, c: 1, d: 1, e: 1 });
    const turns = turnsOf();
    const lookAt = async (room: boolean) => {
      const look = await turns.look(
        () => true,
        async () => () => room,
      );
      return [look.crowded, ...look.turns.map(({ account }) => account.slice('acc_'.length))];
    };

    const looks = [true, false, false, true].map((room) => () => lookAt(room));
    const found = [];
    for (const look of looks) found.push(await look());

    expect(found).to.deep.equal([[false, 'a', 'b', 'c', 'd'], [true], [true], [false, 'e', 'a', 'b', 'c']]);
  });

  it('comes to an account in the second look, however much the one before it has', async () => {
    await insert({ a: 3 * PAGE, b: 1 });

    expect(await walk(turnsOf())).to.deep.equal([['a0000'], ['b0000']]);
  });

  it('comes to a batch behind pages of its own account that cannot be taken', async () => {
    await insert({ a: 2 * PAGE + 1, b: 1 });
    const last = `bat_a${String(2 * PAGE).padStart(4, '0')}`;

    const looks = await walk(turnsOf(), ({ _id, account }) => account !== accountOf('a') || _id === last);

    expect(looks.flat()).to.deep.equal([last.slice('bat_'.length), 'b0000']);
  });

  it('a look says whether its page is all there is', async () => {
    await insert({ a: 1, b: 1, c: 1, d: 1, e: 1 });
    const turns = turnsOf();

    expect(await turns.look(() => true)).to.include({ whole: true, underway: true });
    expect(await turns.look(() => true)).to.include({ whole: false, underway: false });
  });

  it('the store looks at no batch in vain, among many that are done', async () => {
    const { open: _, ...done } = makeBatch(accountOf('a'), 1, { state: 'split' });
    await batchCollection(store.db).insertMany(
      Array.from({ length: 300 }, (_, i) => ({ ...done, _id: `bat_${i}` as BatchId, account: accountOf(`a${i % 9}`) })),
    );
    await insert({ a1: 5, a2: 5, a3: 5 });
    await insert({ a4: 3 }, { state: 'stopping' });

    const from = { account: accountOf('a1') };
    const looks = [
      openBatches(store.db, from).limit(7),
      openBatches(store.db, { ...from, batch: 'bat_a10001' as BatchId }).limit(3),
      stoppingBatches(store.db, from).limit(3),
    ];
    for (const cursor of looks) {
      const { found, documents } = await lookedAt(store.db, cursor);
      expect(found).to.be.greaterThan(0);
      expect(documents).to.equal(found);
    }
  });
});
