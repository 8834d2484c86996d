import { expect } from 'chai';
import { insertAgain } from '../../../../shared/messages/queue/insert.ts';
import { queueDocument } from '../../../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../../../shared/messages/queue/queue-store.ts';
import { newId, queueId } from '../../../../shared/platform/runtime/ids.ts';
import { pruneOld } from '../../../../workers/maintenance/prune.ts';
import { makeMessage } from '../../../support/make.ts';
import { pruneWorld } from '../../../support/prune-world.ts';
import { enqueue, writeOutAll } from '../../../support/queue.ts';

describe('maintenance: what ended long ago is removed, lines', () => {
  const world = pruneWorld();
  const { daysAgo, deps } = world;
  const hoursAgo = (hours: number) => daysAgo(hours / 24);
  const message = (validUntil: Date) => makeMessage({ _id: newId('msg', daysAgo(2).getTime()), validUntil });

  it('go an hour after the validity of their messages; what is valid, or not written out, stays', async () => {
    const { db } = world.store;
    await enqueue(db, [message(hoursAgo(2))]);
    await enqueue(db, [message(hoursAgo(-1)), message(hoursAgo(2))]);
    await enqueue(db, [message(hoursAgo(0.5))]);
    await writeOutAll(db);
    await enqueue(db, [message(hoursAgo(3))]);

    await pruneOld(deps());

    const stayed = await queueOf(db).find().sort({ until: 1 }).toArray();
    expect(stayed.map(({ written }) => written)).to.deep.equal([undefined, true, true]);
  });

  it('of which an insert may still come late end first, and are kept for a day', async () => {
    const { db } = world.store;
    const one = message(hoursAgo(2));
    await insertAgain(db, [queueDocument(queueId(one._id, 0), [one], daysAgo(1))], daysAgo(1));
    await writeOutAll(db);

    await pruneOld(deps());
    await pruneOld(deps());

    const [kept] = await queueOf(db).find().toArray();
    expect(kept).to.deep.include({ removeAt: daysAgo(-1) });
    expect(kept).not.to.have.property('open');
  });
});
