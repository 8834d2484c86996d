import { partStore } from '../../../gateway/endpoints/chatapp-callbacks/callback.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { ChatTemplateDocument } from '../../../shared/templates/chat/chat-template.ts';
import { listChatTemplates, replaceChatTemplates } from '../../../shared/templates/chat/store.ts';
import { makeChatTemplate, ownerOf } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { readAlone } from '../../support/read-callback.ts';
import { inboxWorld } from './inbox-world.ts';
import { graphError, json } from './provider-server.ts';

describe('chatapp worker: copies of the templates', () => {
  const { world, sent, item } = inboxWorld();

  it('copies the provider’s templates, page by page; what is not listed any more goes', async () => {
    const account = await world.openAccount();
    const gone: ChatTemplateDocument = makeChatTemplate(account.id, { name: 'gone' });
    await replaceChatTemplates(world.store.db, ownerOf(account.id), [gone]);
    account.provider.pages = [
      [
        {
          name: 'a',
          status: 'APPROVED',
          language: 'en',
          category: 'UTILITY',
          components: [{ type: 'BODY', text: '{{1}}' }],
        },
      ],
      [
        {
          name: 'b',
          status: 'PENDING',
          language: 'en',
          category: 'MARKETING',
          components: [{ type: 'HEADER', format: 'IMAGE' }, { type: 'ORDER_DETAILS' }],
        },
      ],
    ];
    await world.startWorker();

    const stored = () => listChatTemplates(world.store.db, account.id);
    await eventually(async () => (await stored()).length === 2, 'the list is copied');

    const copied = await stored();
    expect(
      copied.map(({ name, status, variables, components, unsendable }) => {
        return [name, status, variables, components, unsendable];
      }),
    ).to.deep.equal([
      ['a', 'approved', 1, { body: '{{1}}', buttons: [] }, undefined],
      ['b', 'pending', 0, { header: { format: 'image' }, buttons: [] }, 'a component of type order_details'],
    ]);
    expect(account.provider.lists).to.have.length(2);
  });

  it('a list that cannot be read whole changes nothing', async () => {
    const account = await world.openAccount();
    const kept = makeChatTemplate(account.id);
    await replaceChatTemplates(world.store.db, ownerOf(account.id), [kept]);
    account.provider.pages = [[], 'no page' as never];
    await world.startWorker();
    await eventually(() => account.provider.lists.length >= 2, 'the list was asked for');
    await world.queue(account, {});
    await world.allIn(account, 'sent', 1);

    expect(await listChatTemplates(world.store.db, account.id)).to.have.length(1);
  });

  describe('callbacks that overtake each other', () => {
    const TIME = 1_763_719_190;

    /** Resolves when all of the provider's posts are worked off; `stored` then reads the template. */
    async function posted(...posts: readonly (readonly [event: string, time: number | undefined])[]) {
      const account = await world.openAccount();
      const listed = [{ name: 'hello', status: 'APPROVED', language: 'en' }];
      account.provider.pages = [listed];
      let aheadMs = 0;
      const clock = { now: systemClock.now, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
      await world.startWorker({ clock });
      const stored = async () => (await listChatTemplates(world.store.db, account.id))[0];
      await eventually(async () => (await stored()) !== undefined, 'the first copy');
      aheadMs = 60_000;
      const keep = partStore(world.store.db);
      const provider = { _id: account.number, account: account.id, phoneNumberId: '1055', businessId: '2055' };
      for (const [event, time] of posts) {
        const value = { event, message_template_name: 'hello', message_template_language: 'en' };
        const changes = [{ field: 'message_template_status_update', value }];
        const { parts } = await readAlone({ entry: [{ id: '2055', time, changes }] }, provider);
        for (const part of parts) await keep(part);
        await eventually(
          async () => (await world.store.db.collection('chat_inbox').countDocuments({ due: { $exists: true } })) === 0,
          'it is worked off',
        );
      }
      return { stored, account };
    }

    it('the later one by the provider’s time holds, in whichever order they come', async () => {
      const { stored, account } = await posted(['DISABLED', TIME + 2], ['PAUSED', TIME + 1]);

      expect(await stored()).to.include({ status: 'disabled' });
      expect((await stored())?.unannounced?.map(({ status }) => status) ?? []).not.to.include('paused');
      expect(account.provider.lists, 'nothing is left to ask').to.have.length(1);
    });

    it('an old one says nothing after the template is back, which only the list tells', async () => {
      const { stored, account } = await posted(['REINSTATED', TIME + 2], ['DISABLED', TIME + 1]);

      await eventually(() => account.provider.lists.length === 2, 'the list is asked for');
      expect(await stored()).to.include({ status: 'approved' });
    });

    it('of one without a time the list is asked', async () => {
      const { stored, account } = await posted(['PAUSED', undefined]);

      await eventually(() => account.provider.lists.length === 2, 'the list is asked for');
      await eventually(async () => (await stored())?.status === 'approved', 'what the list says');
    });
  });

  describe('a failed status says that its template is paused', () => {
    /** A status of hours ago. Resolves with the template once its list was copied after that. */
    async function told(listedThen: string): Promise<ChatTemplateDocument | undefined> {
      const account = await world.openAccount();
      account.provider.pages = [[{ name: 'hello', status: 'APPROVED', language: 'en' }]];
      let aheadMs = 0;
      const clock = { now: systemClock.now, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
      await world.startWorker({ clock });
      const stored = async () => (await listChatTemplates(world.store.db, account.id))[0];
      const copied = await eventually(stored, 'the first copy');
      account.provider.pages = [[{ name: 'hello', status: listedThen, language: 'en' }]];
      aheadMs = 60_000;
      const message = await sent(account, 1);
      const error = { code: 132_015, title: 'Template is paused' };

      await world.post([item(account, { status: 'failed', at: new Date(Date.now() - 7_200_000), error })]);

      await world.until(message._id, ({ state }) => state === 'failed');
      await eventually(async () => ((await stored())?.syncedAt ?? 0) > (copied?.syncedAt ?? 0), 'the second copy');
      return stored();
    }

    it('it is paused when the list says so', async () => {
      const template = await told('PAUSED');

      expect(template).to.include({ status: 'paused' });
      expect(template?.unannounced?.map(({ status }) => status)).to.deep.equal(['paused']);
    });

    it('one that is approved again meanwhile stays approved, and nobody is told', async () => {
      const template = await told('APPROVED');

      expect(template).to.include({ status: 'approved' }).and.not.have.property('unannounced');
    });
  });

  for (const code of [132_000, 132_001, 132_012, 132_018, 131_008]) {
    it(`a send is refused with ${code}, as if the template had changed: it is copied within a minute`, async () => {
      const account = await world.openAccount((_, res) => json(res, 400, graphError(code)));
      account.provider.pages = [[{ name: 'hello', status: 'APPROVED', language: 'en' }]];
      const stored = async () => (await listChatTemplates(world.store.db, account.id))[0]?.components;
      let aheadMs = 0;
      const clock = { now: systemClock.now, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
      await world.startWorker({ clock });
      await eventually(async () => (await stored()) !== undefined, 'the first copy');

      account.provider.pages = [
        [{ name: 'hello', status: 'APPROVED', language: 'en', components: [{ type: 'BODY', text: 'Hi {{1}}' }] }],
      ];
      aheadMs = 60_000;
      await world.queue(account, {});

      await world.allIn(account, 'rejected', 1);
      await eventually(async () => (await stored())?.body === 'Hi {{1}}', 'the second copy');
      expect(account.provider.lists).to.have.length(2);
    });
  }
});
