import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { replaceChatTemplates } from '../../../../shared/templates/chat/store.ts';
import { chatAtGateway } from '../../../support/chat-gateway.ts';
import { makeChatTemplate, makeProvider, ownerOf } from '../../../support/chatapp.ts';

describe('GET /v2/chatapp/templates', () => {
  const chat = chatAtGateway(0);

  beforeEach(() => makeProvider(chat.db, chat.account));

  it('has name, status and language of each, by name, and those of no other account', async () => {
    const listed = [
      makeChatTemplate(chat.account, { name: 'sale', status: 'paused', unsendable: 'a media header' }),
      makeChatTemplate(chat.account, { name: 'hello', language: 'hi', status: 'pending' }),
      makeChatTemplate(chat.account, { name: 'hello', language: 'en' }),
    ];
    await replaceChatTemplates(chat.db, ownerOf(chat.account), listed);
    const other = newId('acc');
    await replaceChatTemplates(chat.db, ownerOf(other), [makeChatTemplate(other)]);

    const { status, body } = await chat.get('/v2/chatapp/templates');

    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      templates: [
        { name: 'hello', status: 'approved', language: 'en' },
        { name: 'hello', status: 'pending', language: 'hi' },
        { name: 'sale', status: 'paused', language: 'en_US' },
      ],
    });
  });

  it('with `limit` it answers page by page', async () => {
    const listed = ['a', 'b', 'c'].map((name) => makeChatTemplate(chat.account, { name }));
    await replaceChatTemplates(chat.db, ownerOf(chat.account), listed);

    const { body } = await chat.get('/v2/chatapp/templates?limit=2');
    expect(body.templates.map(({ name }: { name: string }) => name)).to.deep.equal(['a', 'b']);
    const { body: rest } = await chat.get(`/v2/chatapp/templates?limit=2&cursor=${body.next_cursor}`);
    expect(rest.templates.map(({ name }: { name: string }) => name)).to.deep.equal(['c']);
    expect(rest).to.include({ has_more: false, next_cursor: null });
  });

  it('is empty for an account that has none, also without a number', async () => {
    await chat.db.collection('providers').deleteMany({});
    expect((await chat.get('/v2/chatapp/templates')).body).to.deep.equal({ templates: [] });
  });
});
