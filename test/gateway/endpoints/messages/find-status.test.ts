import { expect } from 'chai';
import { findMessageStatus } from '../../../../gateway/endpoints/messages/status.ts';
import { queuedMessage } from '../../../../shared/messages/document/draft.ts';
import { insertFirst } from '../../../../shared/messages/queue/insert.ts';
import { claimedMessage, claimLines } from '../../../../shared/messages/queue/queue-store.ts';
import { writeOut } from '../../../../shared/messages/queue/write-out.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { ownDocuments } from '../../../support/queue.ts';
import { useStore } from '../../../support/store.ts';

describe('findMessageStatus', () => {
  const store = useStore();

  it('gives what the status shows, to the owner alone, and never the text', async () => {
    const account = newId('acc');
    const message = queuedMessage(account, newId('grp'), makeDraft({ text: 'a secret' }));
    await insertNew(store.db, 'messages', [message]);

    const own = await findMessageStatus(store.db, account, message._id);
    const others = await findMessageStatus(store.db, newId('acc'), message._id);

    const shown = { to: '919876543210', state: 'queued', segments: 1, history: [] };
    expect(own).to.deep.equal({ _id: message._id, channel: 'sms', ...shown });
    expect(others).to.equal(undefined);
    expect(await findMessageStatus(store.db, account, newId('msg'))).to.equal(undefined);
  });

  it('shows a line of the queue as queued until its message is stored, claimed or not, however old it is', async () => {
    const account = await makeAccount(store.db, 0);
    const group = newId('grp');
    const ids = [newId('msg'), newId('msg'), newId('msg', Date.now() - 86_400_000)] as const;
    const made = ids.map((_id) => queuedMessage(account, group, makeDraft({ _id, text: 'a secret' })));
    const documents = ownDocuments(group, made, new Date());
    await insertFirst(store.db, documents);
    const shown = () => Promise.all(ids.map((id) => findMessageStatus(store.db, account, id)));
    const states = async () => (await shown()).map((status) => status?.state);

    expect(await states()).to.deep.equal(['queued', 'queued', 'queued']);
    expect(JSON.stringify(await shown())).not.to.include('secret');
    expect(await findMessageStatus(store.db, newId('acc'), ids[0])).to.equal(undefined);

    const claim = { id: newId('clm'), carrier: 'airtel', epoch: 1, at: new Date() };
    for (const head of documents) await claimLines(store.db, claim, [{ head, to: 2 }]);
    expect(await states()).to.deep.equal(['queued', 'queued', 'queued']);

    const [first] = made;
    if (first === undefined) throw new Error('made above');
    const sent = { ...claimedMessage(first, claim), state: 'sent' } as const;
    await insertNew(store.db, 'messages', [sent]);
    expect(await states()).to.deep.equal(['sent', 'queued', 'queued']);

    await writeOut(store.db, new Date(), { account });
    expect(await states()).to.deep.equal(['sent', 'submitting', 'queued']);
    expect(await findMessageStatus(store.db, account, newId('msg', Date.now() - 10))).to.equal(undefined);
  });
});
