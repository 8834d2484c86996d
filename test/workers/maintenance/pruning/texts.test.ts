import { expect } from 'chai';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import { pruneOld } from '../../../../workers/maintenance/prune.ts';
import { DAYS, pruneWorld } from '../../../support/prune-world.ts';
import { makeChatMessage } from '../../chatapp/make.ts';

describe('maintenance: texts of messages are removed after HARKARA_TEXT_DAYS', () => {
  const { deps, delivered, put, messages, daysAgo } = pruneWorld();
  const retention = { ...DAYS, texts: 30 };
  const withText = async () =>
    (
      await messages()
        .find({ text: { $exists: true } })
        .toArray()
    ).map(({ _id }) => _id);

  it('of what ended before; the message stays, and what has not ended keeps its text', async () => {
    const [, young, open] = await put([
      delivered(40),
      delivered(29),
      delivered(40, { state: 'queued', history: [], due: daysAgo(38) }),
    ]);

    await pruneOld(deps({ retention }));

    expect(await withText()).to.have.members([young, open]);
    expect(await messages().countDocuments({ state: 'delivered', segments: 1 })).to.equal(2);
  });

  it('also the words and values of chat-app messages', async () => {
    const { _id, state, history } = delivered(40);
    const { due: _, ...old } = makeChatMessage({
      ...{ _id, state, history },
      content: { kind: 'template', name: 'order_update', language: 'en_US', params: ['Asha'] },
    });
    await put([old]);

    await pruneOld(deps({ retention }));

    const [message] = await messages().find<ChatMessageDocument>({}).toArray();
    expect(message?.content).to.deep.equal({ kind: 'template', name: 'order_update', language: 'en_US' });
  });

  it('a later run goes on where the last one was, and still finds what ended late', async () => {
    const [old] = await put([delivered(80), delivered(43, { history: [{ state: 'delivered', at: daysAgo(31) }] })]);

    await pruneOld(deps({ retention }), daysAgo(0));

    expect(await withText()).to.deep.equal([old]);
  });
});
