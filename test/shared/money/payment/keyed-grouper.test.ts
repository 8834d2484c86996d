import { KeyedGrouper, type KeyedPart } from '../../../../shared/money/payment/keyed-grouper.ts';
import { eventually } from '../../../support/eventually.ts';

function setup({ maxItems = 10, maxKeys = 10, maxGroups = 2, patienceMs = 60_000 } = {}) {
  const groups: { readonly parts: readonly KeyedPart<string, number>[]; end(): void; fail(error: Error): void }[] = [];
  const grouper = new KeyedGrouper<string, number, string>({
    maxItems,
    maxKeys,
    maxGroups,
    patienceMs,
    run: (parts) =>
      new Promise((resolve, reject) => {
        const results = (): Promise<readonly string[]>[] =>
          parts.map(async ({ key, items }) => items.map((item) => `${key}${item}`));
        groups.push({ parts, end: () => resolve(results()), fail: reject });
      }),
  });
  const shown = (): string[] => groups.map(({ parts }) => parts.map(({ key, items }) => key + items).join(' '));
  return { grouper, groups, shown };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('KeyedGrouper', () => {
  it('takes what one turn brings for all keys in one group, and answers each item', async () => {
    const { grouper, groups, shown } = setup();
    const answers = [grouper.add('a', 1), grouper.add('b', 2), grouper.add('a', 3)];
    await turn();

    groups[0]?.end();

    expect(await Promise.all(answers)).to.deep.equal(['a1', 'b2', 'a3']);
    expect(shown()).to.deep.equal(['a1,3 b2']);
  });

  it('brings together what arrives while a group is at work', async () => {
    const { grouper, groups, shown } = setup();
    void grouper.add('a', 1);
    await turn();
    for (const i of [2, 3]) for (const key of ['a', 'b']) void grouper.add(key, i);
    await turn();
    const before = shown();

    groups[0]?.end();
    await eventually(() => groups.length === 2, 'a second group');

    expect(before).to.deep.equal(['a1']);
    expect(shown()[1]?.split(' ').sort()).to.deep.equal(['a2,3', 'b2,3']);
    groups[1]?.end();
  });

  it('lets other keys go on beside a group that takes long, and never the keys in it', async () => {
    const { grouper, groups, shown } = setup({ patienceMs: 1 });
    void grouper.add('a', 1);
    await turn();
    void grouper.add('a', 2);
    const other = grouper.add('b', 3);

    await eventually(() => groups.length === 2, 'a second group');
    groups[1]?.end();

    expect(await other).to.equal('b3');
    expect(shown()).to.deep.equal(['a1', 'b3']);
    groups[0]?.end();
    await eventually(() => shown()[2] === 'a2', 'the next group of the key');
    groups[2]?.end();
  });

  it('keeps to its limits of groups, keys and items', async () => {
    const { grouper, groups, shown } = setup({ maxItems: 2, maxKeys: 2, patienceMs: 1 });
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const answers = keys.flatMap((key) => [1, 2, 3].map((i) => grouper.add(key, i)));

    await eventually(() => groups.length === 2, 'a second group');
    await turn();
    expect(shown()).to.deep.equal(['a1,2 b1,2', 'c1,2 d1,2']);

    for (let i = 0; i < 5; i++) {
      await eventually(() => groups.length > i, 'one more group');
      groups[i]?.end();
    }
    expect(await Promise.all(answers)).to.deep.equal(keys.flatMap((key) => [1, 2, 3].map((i) => `${key}${i}`)));
  });

  it('holds a key until its own results are there, and nobody else', async () => {
    let release: (results: readonly string[]) => void = () => {};
    const seen: string[] = [];
    const grouper = new KeyedGrouper<string, number, string>({
      maxItems: 10,
      maxKeys: 10,
      maxGroups: 1,
      patienceMs: 60_000,
      run: async (parts) => {
        seen.push(parts.map(({ key }) => key).join());
        return parts.map(({ key, items }) =>
          key === 'slow' && seen.length === 1
            ? new Promise<readonly string[]>((resolve) => {
                release = resolve;
              })
            : Promise.resolve(items.map(String)),
        );
      },
    });
    const slow = [grouper.add('slow', 1)];
    await turn();
    slow.push(grouper.add('slow', 2));

    expect(await grouper.add('quick', 3)).to.equal('3');
    expect(seen).to.deep.equal(['slow', 'quick']);
    release(['first']);

    expect(await Promise.all(slow)).to.deep.equal(['first', '2']);
  });

  it('rejects the items of a group that failed, and goes on', async () => {
    const { grouper, groups } = setup();
    const failed = Promise.allSettled([grouper.add('a', 1), grouper.add('b', 2)]);
    await turn();
    groups[0]?.fail(new Error('away'));
    const outcomes = await failed;

    const next = grouper.add('a', 3);
    await eventually(() => groups.length === 2, 'a second group');
    groups[1]?.end();

    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    expect(await next).to.equal('a3');
  });
});
