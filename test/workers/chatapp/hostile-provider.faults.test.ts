import { listChatTemplates } from '../../../shared/templates/chat/store.ts';
import { eventually } from '../../support/eventually.ts';
import { flood } from '../../support/hostile-server.ts';
import { chatWorld, customers } from './world.ts';

describe('chatapp worker: a provider that is out for harm', () => {
  const world = chatWorld();

  it('answers without an end: its sends are unknown long before their timeout, and other accounts’ go out', async () => {
    const hostile = await world.openAccount(
      (_, res) => {
        if (res.socket !== null) flood(res.socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n');
      },
      { timeoutMs: 50_000 },
    );
    const other = await world.openAccount();
    await world.queue(hostile, ...customers(3).map((to) => ({ to })));
    await world.queue(other, ...customers(20).map((to) => ({ to })));
    await world.startWorker();

    await world.allIn(other, 'sent', 20);
    const unknown = () => world.messages.countDocuments({ account: hostile.id, outcome: 'unknown' });
    await eventually(async () => (await unknown()) === 3, 'its sends have ended');
  });

  it('a template that cannot be read is left out; the others are copied', async () => {
    const account = await world.openAccount();
    const template = (name: string, text: string) => ({
      name,
      status: 'APPROVED',
      language: 'en',
      category: 'UTILITY',
      components: [{ type: 'BODY', text }],
    });
    account.provider.pages = [
      [template('a', 'Hello {{1}}'), template('endless', '{{1}}'.repeat(5_000))],
      [template('b', 'Bye')],
    ];
    await world.startWorker();

    const names = async () => (await listChatTemplates(world.store.db, account.id)).map(({ name }) => name);
    await eventually(async () => (await names()).includes('b'), 'the list is copied');
    expect(await names()).to.deep.equal(['a', 'b']);
  });
});
