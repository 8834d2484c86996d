import type { Db } from 'mongodb';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import {
  findChatTemplate,
  listChatTemplates,
  noteChatTemplate,
  replaceChatTemplates,
} from '../../../../shared/templates/chat/store.ts';
import { makeChatTemplate, ownerOf } from '../../../support/chatapp.ts';
import { useStore } from '../../../support/store.ts';

describe('chat-app templates', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(() => {
    account = newId('acc');
  });

  it('replace: what the provider lists now is there, and nothing else', async () => {
    const other = newId('acc');
    const theirs = makeChatTemplate(other);
    await replaceChatTemplates(store.db, ownerOf(other), [theirs]);
    const kept = makeChatTemplate(account, { name: 'kept', status: 'pending' });
    await replaceChatTemplates(store.db, ownerOf(account), [kept, makeChatTemplate(account, { name: 'gone' })]);

    const now = [makeChatTemplate(account, { name: 'kept' }), makeChatTemplate(account, { name: 'new' })];
    await replaceChatTemplates(store.db, ownerOf(account), now);
    await replaceChatTemplates(store.db, ownerOf(account), now);

    const [first, second] = await listChatTemplates(store.db, account);
    const { unannounced, statusAt, ...rest } = first ?? {};
    expect([rest, second]).to.deep.equal(now);
    expect(unannounced).to.deep.equal([{ event: 'approved', status: 'approved', at: statusAt }]);
    expect(await listChatTemplates(store.db, other)).to.deep.equal([theirs]);
  });

  it('replace: a list that was read before a status changed does not set it back, and removes nothing that came since', async () => {
    const before = new Date(Date.now() - 1_000);
    const pending = makeChatTemplate(account, { status: 'pending' });
    await replaceChatTemplates(store.db, ownerOf(account), [pending]);
    await noteChatTemplate(
      store.db,
      ownerOf(account),
      pending.name,
      pending.language,
      { status: 'approved' },
      new Date(),
    );

    await replaceChatTemplates(store.db, ownerOf(account), [pending], before);
    await replaceChatTemplates(store.db, ownerOf(account), [], before);

    expect((await listChatTemplates(store.db, account)).map(({ status }) => status)).to.deep.equal(['approved']);
  });

  it('replace: what was stored while the list was compared stays, with what is unannounced of it', async () => {
    const listed = makeChatTemplate(account, { status: 'pending' });
    const { name, language } = listed;
    const meanwhile = async (): Promise<void> => {
      await replaceChatTemplates(store.db, ownerOf(account), [listed]);
      await noteChatTemplate(store.db, ownerOf(account), name, language, { status: 'approved' }, new Date());
    };

    await replaceChatTemplates(beforeWrite(store.db, meanwhile), ownerOf(account), [listed]);

    const found = await findChatTemplate(store.db, ownerOf(account), name, language);
    expect(found?.status).to.equal('approved');
    expect(found?.unannounced).to.have.length(1);
  });

  it('replace: what is still to be announced stays, and so does what changed while the list was compared', async () => {
    const [told, changed] = ['told', 'changed'].map((name) => makeChatTemplate(account, { name }));
    if (told === undefined || changed === undefined) throw new Error('both are made');
    await replaceChatTemplates(store.db, ownerOf(account), [told, changed]);
    const note = ({ name, language }: typeof told, status: string, at: Date) =>
      noteChatTemplate(store.db, ownerOf(account), name, language, { status }, at);
    await note(told, 'paused', new Date(Date.now() - 60_000));
    // A change without an announcement.
    const meanwhile = () => note(changed, 'pending', new Date(Date.now() + 60_000)).then(() => undefined);

    await replaceChatTemplates(beforeWrite(store.db, meanwhile), ownerOf(account), []);

    const left = await listChatTemplates(store.db, account);
    expect(left.map(({ name, status }) => `${name} ${status}`)).to.deep.equal(['changed pending', 'told paused']);
    expect(left[1]?.unannounced).to.have.length(1);
  });

  it('replace: an empty list leaves none', async () => {
    await replaceChatTemplates(store.db, ownerOf(account), [makeChatTemplate(account)]);

    await replaceChatTemplates(store.db, ownerOf(account), []);

    expect(await listChatTemplates(store.db, account)).to.deep.equal([]);
  });

  it('replace: more than are written by one command', async () => {
    const all = Array.from({ length: 600 }, (_, i) =>
      makeChatTemplate(account, { name: `n${String(i).padStart(3, '0')}` }),
    );
    await replaceChatTemplates(store.db, ownerOf(account), all);
    expect(await listChatTemplates(store.db, account)).to.deep.equal(all);

    await replaceChatTemplates(store.db, ownerOf(account), all.slice(300, 310));
    expect(await listChatTemplates(store.db, account)).to.deep.equal(all.slice(300, 310));
  });

  it('find: by name and language, of the account', async () => {
    const both = [makeChatTemplate(account), makeChatTemplate(account, { language: 'hi' })];
    await replaceChatTemplates(store.db, ownerOf(account), both);

    expect(await findChatTemplate(store.db, ownerOf(account), 'order_update', 'hi')).to.deep.equal(both[1]);
    expect(await findChatTemplate(store.db, ownerOf(account), 'order_update', 'de')).to.equal(undefined);
    expect(await findChatTemplate(store.db, ownerOf(newId('acc')), 'order_update', 'hi')).to.equal(undefined);
  });

  it('mark: changes the status until the next replace, and makes nothing up', async () => {
    const template = makeChatTemplate(account);
    await replaceChatTemplates(store.db, ownerOf(account), [template]);

    await noteChatTemplate(
      store.db,
      ownerOf(account),
      template.name,
      template.language,
      { status: 'paused' },
      new Date(),
    );
    await noteChatTemplate(store.db, ownerOf(account), 'unheard_of', 'en', { status: 'paused' }, new Date());

    const [{ unannounced, statusAt, ...rest } = template, ...more] = await listChatTemplates(store.db, account);
    expect([rest, ...more]).to.deep.equal([{ ...template, status: 'paused' }]);
    expect(unannounced).to.deep.equal([{ event: 'stopped', status: 'paused', at: statusAt }]);
  });
});

function beforeWrite(db: Db, meanwhile: () => Promise<void>): Db {
  let happened = false;
  const first = async (): Promise<void> => {
    if (happened) return;
    happened = true;
    await meanwhile();
  };
  const collection = (name: string): object => {
    const real = db.collection(name);
    const bulkWrite: typeof real.bulkWrite = (...args) => first().then(() => real.bulkWrite(...args));
    const deleteMany: typeof real.deleteMany = (...args) => first().then(() => real.deleteMany(...args));
    return { find: real.find.bind(real), bulkWrite, deleteMany };
  };
  return new Proxy(db, {
    get: (target, member) => (member === 'collection' ? collection : Reflect.get(target, member)),
  });
}
