import { findEachCommitted } from '../../../../shared/platform/mongo/find-one.ts';
import { latch } from '../../../support/latch.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { held } from '../../../support/mongo-wire/faults.ts';

interface Thing {
  readonly _id: number;
}

describe('documents that are read from a majority', () => {
  const site = withCutStore();

  it('come in the order in which they were asked for, and leave connections to other commands meanwhile', async () => {
    const ids = Array.from({ length: 45 }, (_, i) => i);
    await site.store.db.collection<Thing>('things').insertMany(ids.filter((id) => id !== 7).map((_id) => ({ _id })));
    const things = site.cut.db.collection<Thing>('things');
    const go = latch();
    const slow = site.proxy.inject({
      ...{ command: 'findAndModify', times: Number.POSITIVE_INFINITY },
      happens: held(go.opened),
    });

    const reading = findEachCommitted(
      things,
      ids.map((_id) => ({ _id })),
    );
    const other = await things.findOne({ _id: 3 });
    go.open();
    const found = await reading;
    slow.end();

    expect(other).to.deep.equal({ _id: 3 });
    expect(found.map(({ _id }) => _id)).to.deep.equal(ids.filter((id) => id !== 7));
  });
});
