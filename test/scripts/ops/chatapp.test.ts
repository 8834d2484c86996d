import { TEMPLATES } from '../../../scripts/simulator/provider/templates.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { replaceChatTemplates } from '../../../shared/templates/chat/store.ts';
import { copyTemplates, makeChatTemplate, ownerOf } from '../../support/chatapp.ts';
import { makeAccount } from '../../support/make.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: the chat-app channel', () => {
  const world = use(() => OpsWorld.open());
  let account: AccountId;
  beforeEach(async () => {
    account = await makeAccount(world.store.db, 0);
  });

  const ops = (...words: string[]) => world.run(words);
  const json = (...words: string[]) => world.json(words);

  it('chat-template list: what the provider told last', async () => {
    expect((await ops('chat-template', 'list', account)).out).to.equal('There are none.\n');
    await replaceChatTemplates(world.store.db, ownerOf(account), [
      makeChatTemplate(account, { status: 'paused', variables: 3 }),
    ]);

    const [one] = await json('chat-template', 'list', account);

    expect(one).to.include({ name: 'order_update', language: 'en_US', state: 'paused', cannot_be_sent: null });
    expect((await ops('chat-template', 'list', account)).out).to.match(/order_update +en_US +paused +utility +-/);
  });

  it('chat-template show: what it consists of, and what stands at each place of params', async () => {
    const [known] = TEMPLATES;
    const odd = { ...known, name: 'season_poll', components: [{ type: 'BODY', text: 'Which one?' }, { type: 'POLL' }] };
    await copyTemplates(world.store.db, account, [...TEMPLATES, odd]);

    const { out } = await ops('chat-template', 'show', account, 'order_shipped', 'en_US');
    expect(out).to.match(/^header +image$/m);
    expect(out).to.match(/^url +Track +https:\/\/shop\.example\/track\/\{\{1\}\} /m);
    expect(out).to.match(/^params\[0\] +the https address of the image in the header$/m);
    expect(out).to.match(/^params\[3\] +the url suffix of button 2 \("Track"\)$/m);
    const [shown] = await json('chat-template', 'show', account, 'login_code', 'en_US');
    expect(shown).to.deep.include({
      cannot_be_sent: null,
      params: ['the one-time password, for body {{1}} and button 0 ("Copy code")'],
    });
    expect((await ops('chat-template', 'show', account, 'season_poll', 'en_US')).out).to.match(
      /^cannot be sent +a component of type poll$/m,
    );
    expect(await ops('chat-template', 'show', account, 'none', 'en_US')).to.include({ code: 1 });
    expect((await ops('chat-template', 'list', account)).out).to.match(/order_shipped +en_US +approved +utility +-/);
  });

  it('chat-template show: texts cannot control the terminal', async () => {
    const components = [{ type: 'BODY', text: 'a\u001b[2Jb\nc' }];
    await copyTemplates(world.store.db, account, [{ name: 'n', status: 'APPROVED', language: 'en', components }]);

    expect((await ops('chat-template', 'show', account, 'n', 'en')).out).to.match(/^body +a \[2Jb c$/m);
  });
});
