import { expect } from 'chai';
import type { BatchState } from '../../../shared/messages/batch.ts';
import { countBatch } from '../../../shared/messages/batch-progress.ts';
import { queuedMessage } from '../../../shared/messages/document/draft.ts';
import { insertFirst } from '../../../shared/messages/queue/insert.ts';
import { claimedMessage, claimLines } from '../../../shared/messages/queue/queue-store.ts';
import { writeOut } from '../../../shared/messages/queue/write-out.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { batchMessageIds, newId } from '../../../shared/platform/runtime/ids.ts';
import { makeBatch } from '../../support/batches.ts';
import { makeDraft } from '../../support/make.ts';
import { ownDocuments } from '../../support/queue.ts';
import { useStore } from '../../support/store.ts';

describe('how far a batch is', () => {
  const store = useStore();

  /** A batch of 10 entries, of which 6 are lines of the queue and nothing else. */
  const begun = async () => {
    const [account, group] = [newId('acc'), newId('grp')];
    const batch = makeBatch(account, 10, { state: 'paid', group, reserved: 6 });
    const idOf = batchMessageIds(batch._id);
    const made = Array.from({ length: 6 }, (_, i) =>
      queuedMessage(account, group, makeDraft({ _id: idOf(i), batch: batch._id })),
    );
    const documents = ownDocuments(group, made, new Date());
    await insertFirst(store.db, documents);
    const counts = async (state: BatchState) => {
      const { queued, sent, rejected, ...others } = await countBatch(store.db, { ...batch, state });
      expect(others).to.deep.equal({ delivered: 0, failed: 0, expired: 0 });
      return { queued, sent, rejected };
    };
    return { batch, made, documents, counts };
  };

  it('adds up at any moment of its lines, also while it is stopped: what may still be sent is queued', async () => {
    const { batch, made, documents, counts } = await begun();
    const moments = async () => [await counts('paid'), await counts('stopping')];
    const none = [
      { queued: 10, sent: 0, rejected: 0 },
      { queued: 6, sent: 0, rejected: 4 },
    ];
    expect(await moments()).to.deep.equal(none);

    const claim = { id: newId('clm'), carrier: 'airtel', epoch: 1, at: new Date() };
    for (const head of documents) await claimLines(store.db, claim, [{ head, to: 4 }]);
    expect(await moments()).to.deep.equal(none);

    const sent = made.slice(0, 3).map((line) => ({ ...claimedMessage(line, claim), state: 'sent' }));
    await insertNew(store.db, 'messages', sent);
    const some = [
      { queued: 7, sent: 3, rejected: 0 },
      { queued: 3, sent: 3, rejected: 4 },
    ];
    expect(await moments()).to.deep.equal(some);

    await writeOut(store.db, new Date(), { batch: batch._id });
    expect(await moments()).to.deep.equal(some);
  });
});
