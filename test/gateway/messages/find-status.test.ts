import { expect } from 'chai';
import { findMessageStatus } from '../../../gateway/messages/find-status.ts';
import { queuedMessage } from '../../../shared/messages/draft.ts';
import { insertNew } from '../../../shared/mongo/insert-new.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { makeDraft } from '../../support/make.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('findMessageStatus', () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  it('gives what the status shows, to the owner alone, and never the text', async () => {
    const account = newId('acc');
    const message = queuedMessage(account, newId('grp'), makeDraft({ text: 'a secret' }));
    await insertNew(store.db, 'messages', [message]);

    const own = await findMessageStatus({ db: store.db, clock: systemClock }, account, message._id);
    const others = await findMessageStatus({ db: store.db, clock: systemClock }, newId('acc'), message._id);

    const shown = { to: '919876543210', state: 'queued', segments: 1, history: [] };
    expect(own).to.deep.equal({ _id: message._id, channel: 'sms', ...shown });
    expect(others).to.equal(undefined);
    expect(await findMessageStatus({ db: store.db, clock: systemClock }, account, newId('msg'))).to.equal(undefined);
  });
});
