import type { Filter, UpdateFilter } from 'mongodb';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { chargeOf, settleCharge } from '../../../../shared/money/conversations/charge.ts';
import {
  type ConversationDocument,
  conversationCollection,
  conversationKey,
} from '../../../../shared/money/conversations/conversation.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../../support/chat.ts';
import { makeAccount } from '../../../support/make.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { readsUndone } from '../../../support/mongo-wire/undo.ts';
import { silentLog } from '../../../support/silent-log.ts';

const SENT = { state: 'sent', parts: [{ key: 'k', state: 'accepted' }] } as const;
const FAILED = { state: 'failed', parts: [{ key: 'k', state: 'refused' }] } as const;

describe('the charge for a conversation, while plain reads come to a replaced primary', () => {
  const site = withCutStore();

  const messages = () => site.store.db.collection<ChatMessageDocument>('messages');
  const set = (_id: MessageId, to: Partial<ChatMessageDocument>) => messages().updateOne({ _id }, { $set: to });
  /** An opener and an included message, both accepted. */
  async function begin(): Promise<readonly [ChatMessageDocument, ChatMessageDocument]> {
    const { db } = site.store;
    const account = await makeAccount(db, 10);
    const accepter = createChatAccepter({ db, clock: systemClock, log: silentLog, prices: CHAT_PRICES });
    for (let i = 0; i < 2; i++) await accepter.accept(account, makeTemplateDraft());
    await messages().updateMany({ account }, { $set: SENT });
    const [opener, included] = await chatMessagesOf(db, account);
    if (opener === undefined || included === undefined) throw new Error('two were accepted');
    return [opener, included];
  }
  const conversationOf = ({ account, to }: ChatMessageDocument): Filter<ConversationDocument> => ({
    _id: conversationKey(account, to),
  });
  const showMessage = ({ _id }: ChatMessageDocument, update: UpdateFilter<ChatMessageDocument>) =>
    site.proxy.inject({
      ...{ command: 'find', collection: 'messages', times: Number.POSITIVE_INFINITY },
      happens: readsUndone(site.store.db, 'messages', { _id }, update),
    });

  it('stands when the failure of its opener is rolled back', async () => {
    const [opener, included] = await begin();
    await set(included._id, { state: 'queued' });
    const shown = showMessage(opener, { $set: FAILED });

    expect(await settleCharge(site.cut.db, chargeOf(opener))).to.equal('stands');

    shown.end();
    expect((await conversationCollection(site.store.db).findOne(conversationOf(opener)))?.refunded).to.equal(undefined);
  });

  it('passes on to a message that was taken, also when that is not seen', async () => {
    const [opener, included] = await begin();
    await set(opener._id, FAILED);
    const shown = showMessage(included, { $set: { state: 'queued' }, $unset: { parts: '' } });

    expect(await settleCharge(site.cut.db, chargeOf(opener))).to.equal('stands');

    expect(shown.met).to.be.greaterThan(0);
    shown.end();
    const document = await conversationCollection(site.store.db).findOne(conversationOf(opener));
    expect(document?.successors?.map((successor) => successor.opener)).to.deep.equal([included._id]);
  });

  it('stands when the decision that it is refunded is rolled back', async () => {
    const [opener] = await begin();
    const undone = { $push: { refunded: opener.conversation } };
    const stale = readsUndone(site.store.db, 'conversations', conversationOf(opener), undone);
    const shown = site.proxy.inject({ command: 'find', collection: 'conversations', happens: stale });

    expect(await settleCharge(site.cut.db, chargeOf(opener))).to.equal('stands');

    shown.end();
  });
});
