import { expect } from 'chai';
import type { ConversationDocument } from '../../../../shared/money/conversations/conversation.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { pruneConversations } from '../../../../workers/maintenance/prune.ts';
import { pruneWorld } from '../../../support/prune-world.ts';

describe('maintenance: what ended long ago is removed, conversations', () => {
  const world = pruneWorld();
  const { daysAgo, deps, idsIn } = world;

  it('conversations go when neither side has had to do with the other for long', async () => {
    const customer = (number: string, overrides: Partial<ConversationDocument> = {}): ConversationDocument => ({
      _id: `acc_a:${number}`,
      account: 'acc_a',
      customer: number,
      ...overrides,
    });
    const current = (days: number): Pick<ConversationDocument, 'current'> => ({
      current: {
        id: newId('cnv'),
        number: 1,
        by: 'business',
        credits: 2,
        opener: newId('msg'),
        group: newId('grp'),
        openedAt: daysAgo(days + 1),
        until: daysAgo(days),
      },
    });
    const refunded = (days: number) => newId('cnv', daysAgo(days).getTime());
    await world.store.db.collection<ConversationDocument>('conversations').insertMany([
      customer('1', { lastInboundAt: daysAgo(91) }),
      customer('2', current(91)),
      customer('3', { lastInboundAt: daysAgo(95), ...current(91) }),
      customer('4', { lastInboundAt: daysAgo(89), ...current(91) }),
      customer('5', { lastInboundAt: daysAgo(91), ...current(89) }),
      // Was made just now, for a conversation that is being opened.
      customer('6'),
      // Never wrote, and its conversations were given back: probably a number without the app.
      customer('7', { openings: 1, judged: 1, refunded: [refunded(91)] }),
      customer('8', { openings: 2, judged: 2, refunded: [refunded(91), refunded(89)] }),
      customer('9', { lastInboundAt: daysAgo(91), refunded: [refunded(89)] }),
      // Only known as another number of a customer.
      customer('a', { aliases: ['1'], linkedAt: daysAgo(91) }),
      customer('b', { aliases: ['1'], linkedAt: daysAgo(89) }),
      customer('c', { aliases: ['1'], linkedAt: daysAgo(91), ...current(89) }),
    ]);

    await pruneConversations(deps());

    const left = ['acc_a:4', 'acc_a:5', 'acc_a:6', 'acc_a:8', 'acc_a:9', 'acc_a:b', 'acc_a:c'];
    expect(await idsIn('conversations')).to.deep.equal(left);
  });
});
