import { expect } from 'chai';
import {
  findChatTemplate,
  listChatTemplates,
  markChatTemplate,
  replaceChatTemplates,
} from '../../../shared/chat-templates/store.ts';
import { type AccountId, newId } from '../../../shared/runtime/ids.ts';
import { makeChatTemplate } from '../../support/chatapp.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

describe('chat-app templates', () => {
  let store: TestStore;
  let account: AccountId;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(() => {
    account = newId('acc');
  });

  it('replace: what the provider lists now is there, and nothing else', async () => {
    const other = newId('acc');
    const theirs = makeChatTemplate(other);
    await replaceChatTemplates(store.db, other, [theirs]);
    const kept = makeChatTemplate(account, { name: 'kept', status: 'pending' });
    await replaceChatTemplates(store.db, account, [kept, makeChatTemplate(account, { name: 'gone' })]);

    const now = [makeChatTemplate(account, { name: 'kept' }), makeChatTemplate(account, { name: 'new' })];
    await replaceChatTemplates(store.db, account, now);
    await replaceChatTemplates(store.db, account, now);

    expect(await listChatTemplates(store.db, account)).to.deep.equal(now);
    expect(await listChatTemplates(store.db, other)).to.deep.equal([theirs]);
  });

  it('replace: an empty list leaves none', async () => {
    await replaceChatTemplates(store.db, account, [makeChatTemplate(account)]);

    await replaceChatTemplates(store.db, account, []);

    expect(await listChatTemplates(store.db, account)).to.deep.equal([]);
  });

  it('replace: more than are written by one command', async () => {
    const all = Array.from({ length: 600 }, (_, i) =>
      makeChatTemplate(account, { name: `n${String(i).padStart(3, '0')}` }),
    );
    await replaceChatTemplates(store.db, account, all);
    expect(await listChatTemplates(store.db, account)).to.deep.equal(all);

    await replaceChatTemplates(store.db, account, all.slice(300, 310));
    expect(await listChatTemplates(store.db, account)).to.deep.equal(all.slice(300, 310));
  });

  it('find: by name and language, of the account', async () => {
    const both = [makeChatTemplate(account), makeChatTemplate(account, { language: 'hi' })];
    await replaceChatTemplates(store.db, account, both);

    expect(await findChatTemplate(store.db, account, 'order_update', 'hi')).to.deep.equal(both[1]);
    expect(await findChatTemplate(store.db, account, 'order_update', 'de')).to.equal(undefined);
    expect(await findChatTemplate(store.db, newId('acc'), 'order_update', 'hi')).to.equal(undefined);
  });

  it('mark: changes the status until the next replace, and makes nothing up', async () => {
    const template = makeChatTemplate(account);
    await replaceChatTemplates(store.db, account, [template]);

    await markChatTemplate(store.db, account, template.name, template.language, 'paused');
    await markChatTemplate(store.db, account, 'unheard_of', 'en', 'paused');

    expect(await listChatTemplates(store.db, account)).to.deep.equal([{ ...template, status: 'paused' }]);
  });
});
