import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { ClaimWorld, countBy, ids, room } from '../../../support/claim-world.ts';
import { use } from '../../../support/use.ts';

describe('Claimer', () => {
  const world = use(() => ClaimWorld.open());
  beforeEach(async () => {
    await world.clear();
  });

  it('takes higher lanes first', async () => {
    const low = await world.put(5, { lane: 3, path: 'promotional' });
    const high = await world.put(5, { lane: 0 });
    const middle = await world.put(5, { lane: 1 });

    const claimed = await world.claimer().claim(room(7));

    expect(ids(claimed)).to.include.members(ids(high));
    expect(ids(claimed)).to.include.members(ids(middle.slice(0, 2)));
    expect(ids(claimed)).not.to.include.members(ids(low.slice(0, 1)));
  });

  it('a lower lane gets its part while a higher one never ends', async () => {
    await world.put(400, { lane: 1 });
    await world.put(50, { lane: 3, path: 'promotional' });
    const worker = world.claimer();

    const claimed: MessageDocument[] = [];
    for (let i = 0; i < 20; i++) claimed.push(...(await worker.claim(room(10))));

    const low = claimed.filter((message) => message.lane === 3).length;
    expect(claimed).to.have.length(200);
    expect(low).to.be.within(10, 30);
  });

  it('the backlog of one account stands before no other', async () => {
    await world.put(300);
    const small = await world.put(1);
    const other = await world.put(3);
    const worker = world.claimer();

    const claimed = [...(await worker.claim(room(20))), ...(await worker.claim(room(20)))];

    expect(ids(claimed)).to.include.members(ids([...small, ...other]));
  });

  it('the backlog of one path stands before no other path of its lane', async () => {
    await world.put(300, { path: '@30:airtel>jio' });
    const other = await world.put(5, { path: '@60:airtel' });
    const worker = world.claimer(['@30:airtel>jio', '@60:airtel']);

    const claimed: MessageDocument[] = [];
    while (claimed.length < 300) claimed.push(...(await worker.claim(room(20))));

    expect(ids(claimed.slice(0, 40))).to.include.members(ids(other));
  });

  for (const size of [1, 7, 40]) {
    it(`five paths of a lane, all of one account, get equal parts in claims of ${size}`, async () => {
      const paths = ['@30:a', '@30:a>b', '@30:b>a', '@30:c>a', '@60:a'];
      const account = newId('acc');
      for (const path of paths) await world.put(150, { account, path });
      const worker = world.claimer(paths);

      const claimed: MessageDocument[] = [];
      while (claimed.length < 280) claimed.push(...(await worker.claim(room(size))));

      const counts = paths.map((path) => claimed.filter((message) => message.path === path).length);
      expect(Math.max(...counts) - Math.min(...counts), `${counts}`).to.be.at.most(20);
    });
  }

  for (const count of [2, 3, 7, 30]) {
    it(`${count} accounts with equal backlogs get equal parts`, async () => {
      const accounts = Array.from({ length: count }, () => newId('acc'));
      for (const account of accounts) await world.put(Math.ceil(600 / count), { account });
      const worker = world.claimer();

      const claimed: MessageDocument[] = [];
      while (claimed.length < 300) claimed.push(...(await worker.claim(room(20))));

      const counts = accounts.map((account) => countBy(claimed, account));
      // They may differ by one quota of an account.
      expect(Math.max(...counts) - Math.min(...counts), `${counts}`).to.be.at.most(20);
    });
  }

  /** `used`: messages claimed before the read-ahead expires, in the middle of an account's quota. */
  for (const [count, used] of [
    [2, 7],
    [2, 13],
    [3, 8],
    [6, 12],
  ] as const) {
    it(`none of ${count} accounts gets ahead by more than a quota or two, at ${used} messages a reading`, async () => {
      const accounts = Array.from({ length: count }, () => newId('acc'));
      for (const account of accounts) await world.put(60, { account });
      const worker = world.claimer();

      const counts = new Map(accounts.map((account) => [account, 0]));
      for (let round = 0; round < 20; round++) {
        for (let i = 0; i < used; i++) {
          for (const { account } of await worker.claim(room(1))) counts.set(account, (counts.get(account) ?? 0) + 1);
        }
        world.clock.turn(51);
        if (Math.max(...counts.values()) > 50) break;
        const lead = Math.max(...counts.values()) - Math.min(...counts.values());
        expect(lead, `round ${round}: ${[...counts.values()]}`).to.be.at.most(10);
      }
    });
  }

  it('goes on when a short queue was read whole, which is more than there is room for', async () => {
    const accounts = [newId('acc'), newId('acc'), newId('acc')].sort();
    for (const [i, account] of accounts.entries()) await world.put(i === 1 ? 9 : 100, { account });
    const worker = world.claimer();

    const sizes: number[] = [];
    for (const [count, laterMs] of [5, 5, 11, 11, 11, 11, 11, 11].map(
      (size, i) => [size, i < 5 ? 51 : 5_000] as const,
    )) {
      sizes.push((await worker.claim(room(count))).length);
      world.clock.turn(laterMs);
    }

    expect(sizes).to.deep.equal([5, 5, 11, 11, 11, 11, 11, 11]);
  });

  it('an account that comes between others in a backlog gets its quota like them', async () => {
    const accounts = Array.from({ length: 9 }, () => newId('acc'));
    const late = accounts.splice(4, 1);
    for (const account of accounts) await world.put(100, { account });
    const worker = world.claimer();
    const claimOften = async (times: number): Promise<MessageDocument[]> => {
      const claimed: MessageDocument[] = [];
      for (let i = 0; i < times; i++) claimed.push(...(await worker.claim(room(40))));
      world.clock.turn(51); // the read-ahead has expired
      return claimed;
    };
    await claimOften(4);

    for (const account of late) await world.put(100, { account });
    const claimed = await claimOften(9);

    const counts = [...accounts, ...late].map((account) => countBy(claimed, account));
    expect(new Set(ids(claimed)).size).to.equal(360);
    expect(Math.max(...counts) - Math.min(...counts), `${counts}`).to.be.at.most(20);
  });

  it('one account alone fills the room', async () => {
    await world.put(100);
    const worker = world.claimer();

    const sizes = [];
    for (let i = 0; i < 3; i++) sizes.push((await worker.claim(room(30))).length);

    expect(sizes).to.deep.equal([30, 30, 30]);
  });

  it('sees soon what comes into an empty higher lane during a backlog', async () => {
    await world.put(300, { lane: 2 });
    const worker = world.claimer();
    await worker.claim(room(10));
    await worker.claim(room(10));

    const otp = await world.put(1, { lane: 0 });
    world.clock.turn(100);

    expect(ids(await worker.claim(room(10)))).to.include.members(ids(otp));
  });
});
