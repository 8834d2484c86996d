import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { TEMPLATES } from '../../../scripts/simulator/provider/demo-templates.ts';
import { listOptIns } from '../../../shared/carriers/chat-opt-in-store.ts';
import { findProvider, noteTrouble, stopProvider } from '../../../shared/carriers/providers/store.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { createSecretBox } from '../../../shared/platform/runtime/secret-box.ts';
import { loadSecretKeys } from '../../../shared/platform/runtime/secret-keys.ts';
import { replaceChatTemplates } from '../../../shared/templates/chat/store.ts';
import { copyTemplates, makeChatTemplate } from '../../support/chatapp.ts';
import { makeAccount } from '../../support/make.ts';
import { OpsWorld } from '../../support/ops-world.ts';

const GOOD = [
  ...['--base-url', 'https://graph.example/v23.0', '--phone-number-id', '1055', '--business-id', '2055'],
  ...['--display-number', '918000000001'],
];

describe('npm run ops: the chat-app channel', () => {
  let world: OpsWorld;
  let account: AccountId;
  before(async () => {
    world = await OpsWorld.open();
  });
  after(() => world.close());
  beforeEach(async () => {
    account = await makeAccount(world.store.db, 0);
    process.env.CHATAPP_TOKEN = 'EAAtoken';
    process.env.CHATAPP_APP_SECRET = 'appsecret';
  });
  afterEach(() => {
    delete process.env.CHATAPP_TOKEN;
    delete process.env.CHATAPP_APP_SECRET;
  });

  const ops = (...words: string[]) => world.run(words);
  const json = (...words: string[]) => world.json(words);

  describe('provider', () => {
    it('set: shows where the provider must post to and, once, the verify token; never the secrets', async () => {
      const made = await ops('provider', 'set', account, ...GOOD);
      const shown = await ops('provider', 'show', account);
      const listed = await ops('provider', 'list', '--json');

      expect(made).to.include({ code: 0, err: '' });
      const provider = await findProvider(world.store.db, account);
      const box = createSecretBox(loadSecretKeys('', world.dir));
      expect(box.open(provider?.token ?? '', ['providers', account, 'token'])).to.equal('EAAtoken');
      expect(box.open(provider?.appSecret ?? '', ['providers', account, 'appSecret'])).to.equal('appsecret');
      const verifyToken = box.open(provider?.verifyToken ?? '', ['providers', account, 'verifyToken']);
      expect(made.out).to.include(`/chatapp/callback/${provider?.callback}\n`);
      expect(made.out).to.include(`verify token  ${verifyToken}\n`);
      expect(shown.out).to.include(`/chatapp/callback/${provider?.callback}\n`);
      expect(JSON.parse(listed.out).map((one: { account: string }) => one.account)).to.include(account);
      for (const said of [shown.out, listed.out]) expect(said).not.to.include(verifyToken);
      for (const said of [made.out, shown.out, listed.out]) {
        expect(said).not.to.match(/EAAtoken|appsecret/);
        expect(said)
          .not.to.include(provider?.token ?? '')
          .and.not.to.include(provider?.appSecret ?? '');
      }
    });

    it('show, list: what does not work is told with its time; an active one is failing then', async () => {
      await json('provider', 'set', account, ...GOOD);
      const at = new Date('2026-11-22T10:00:00Z');
      const reason = 'there is no such business id (HTTP 404, code 100)';
      await noteTrouble(world.store.db, account, 'templates', { at, reason });

      const [shown, listed] = [await ops('provider', 'show', account), await ops('provider', 'list')];
      for (const { out } of [shown, listed]) {
        expect(out).to.include(`copying the templates: ${reason}, at 2026-11-22T10:00:00.000Z`);
        expect(out).to.include('failing');
      }
      expect(await json('provider', 'show', account)).to.deep.include({
        status: 'failing',
        troubles: { templates: { at: at.toISOString(), reason } },
      });

      await ops('provider', 'pause', account);
      expect(await json('provider', 'show', account)).to.include({ status: 'paused' });
    });

    it('set: later changes only what is named', async () => {
      await json('provider', 'set', account, ...GOOD);
      process.env.CHATAPP_TOKEN = 'EAAother';

      const one = await json('provider', 'set', account, '--per-second', '20', '--opt-in', 'list');

      expect(one).to.include({
        created: false,
        per_second: 20,
        opt_in: 'list',
        base_url: 'https://graph.example/v23.0',
      });
      expect(one).not.to.have.property('verify_token');
      const box = createSecretBox(loadSecretKeys('', world.dir));
      expect(
        box.open((await findProvider(world.store.db, account))?.token ?? '', ['providers', account, 'token']),
      ).to.equal('EAAtoken');
      await json('provider', 'set', account, '--token');
      expect(
        box.open((await findProvider(world.store.db, account))?.token ?? '', ['providers', account, 'token']),
      ).to.equal('EAAother');
      const again = await json('provider', 'set', account, '--new-verify-token');
      expect(again.verify_token).to.equal(
        box.open((await findProvider(world.store.db, account))?.verifyToken ?? '', [
          'providers',
          account,
          'verifyToken',
        ]),
      );
    });

    it('set: another address needs the access token again', async () => {
      await json('provider', 'set', account, ...GOOD);
      delete process.env.CHATAPP_TOKEN;
      const address = ['--base-url', 'https://other.example/v23.0'];

      expect((await ops('provider', 'set', account, ...address)).err).to.include('--token-stdin');
      process.env.CHATAPP_TOKEN = 'EAAgiven';
      expect(await json('provider', 'set', account, ...address)).to.include({ base_url: address[1] });
    });

    it('set: says what is missing, and that there is nothing to change', async () => {
      const { code, err } = await ops('provider', 'set', account, '--base-url', 'https://graph.example/v23.0');

      expect(code).to.equal(1);
      expect(err).to.match(/^Not set\. --phone-number-id: it is required\. --business-id: .*--display-number: /);
      expect(await findProvider(world.store.db, account)).to.equal(undefined);
      await json('provider', 'set', account, ...GOOD);
      expect(await ops('provider', 'set', account)).to.include({
        code: 1,
        err: 'Nothing to change: see `provider set --help`.\n',
      });
    });

    it('set: takes no secret as an option, and asks for one that is not there', async () => {
      expect(await ops('provider', 'set', account, ...GOOD, '--token', 'EAAx')).to.include({ code: 2 });
      delete process.env.CHATAPP_APP_SECRET;

      // The tests' stdin is no terminal.
      const { code, err } = await ops('provider', 'set', account, ...GOOD);

      expect(code).to.equal(2);
      expect(err).to.include('Give the app secret on stdin with --app-secret-stdin, or in CHATAPP_APP_SECRET');
    });

    it('set: the account must be there', async () => {
      expect((await ops('provider', 'set', newId('acc'), ...GOOD)).err).to.include('There is no account');
    });

    it('pause and resume: also after the provider refused the account', async () => {
      expect((await ops('provider', 'pause', account)).err).to.include('has no number on the chat-app channel');
      await json('provider', 'set', account, ...GOOD);

      expect(await json('provider', 'pause', account)).to.deep.equal({ account, status: 'paused' });
      expect((await json('provider', 'show', account)).status).to.equal('paused');
      await stopProvider(world.store.db, account, '190: the access token has expired');
      expect((await ops('provider', 'show', account)).out).to.match(/stopped\nwhy +190: the access token has expired/);
      expect(await json('provider', 'resume', account)).to.deep.equal({ account, status: 'active' });
      expect((await json('provider', 'show', account)).status).to.equal('active');
    });
  });

  describe('opt-in', () => {
    const ASHA = '919876543210';

    it('add, list, remove', async () => {
      expect(await json('opt-in', 'add', account, ASHA)).to.deep.equal({ account, customer: ASHA, added: true });
      expect((await ops('opt-in', 'add', account, ASHA)).out).to.equal(`${ASHA} was on the list already.\n`);
      await json('opt-in', 'add', account, '919876543211');

      expect((await ops('opt-in', 'list', account, '--limit', '1')).out).to.match(
        new RegExp(`${ASHA} +20.*\nThere may be more: --after ${ASHA}\n`),
      );
      expect(await json('opt-in', 'list', account, '--after', ASHA)).to.have.length(1);
      const userId = 'US.13491208655302741918';
      expect(await json('opt-in', 'add', account, userId)).to.include({ customer: userId, added: true });
      expect(await ops('opt-in', 'remove', account, userId)).to.include({ code: 0 });
      expect(await ops('opt-in', 'remove', account, ASHA)).to.include({ code: 0 });
      expect((await ops('opt-in', 'remove', account, ASHA)).err).to.include('is not on the list');
    });

    it('add: a number must be one', async () => {
      expect(await ops('opt-in', 'add', account, `00${ASHA}`)).to.include({ code: 2 });
    });

    it('import: all of a file, or nothing when a line is bad', async () => {
      const file = join(world.dir, 'customers.txt');
      writeFileSync(file, `${ASHA}\nRavi\n`);

      const { code, err } = await ops('opt-in', 'import', account, file);

      expect(code).to.equal(1);
      expect(err).to.match(/^Nothing was imported\. Bad lines: 1\.\nline 2: /);
      expect(await listOptIns(world.store.db, account, 10)).to.deep.equal([]);
      writeFileSync(file, `${ASHA}\n+91 98765-43211 # shop\n`);
      expect(await json('opt-in', 'import', account, file)).to.deep.equal({ added: 2, known: 0 });
      expect(await json('opt-in', 'import', account, file)).to.deep.equal({ added: 0, known: 2 });
      expect((await ops('opt-in', 'import', account, join(world.dir, 'none'))).err).to.include('cannot be read');
    });
  });

  it('chat-template list: what the provider told last', async () => {
    expect((await ops('chat-template', 'list', account)).out).to.equal('There are none.\n');
    await replaceChatTemplates(world.store.db, account, [
      makeChatTemplate(account, { status: 'paused', variables: 3 }),
    ]);

    const [one] = await json('chat-template', 'list', account);

    expect(one).to.include({ name: 'order_update', language: 'en_US', status: 'paused', params: 3, unsendable: null });
    expect((await ops('chat-template', 'list', account)).out).to.match(/order_update +en_US +paused +utility +3/);
  });

  it('chat-template show: what it consists of, and what stands at each place of params', async () => {
    await copyTemplates(world.store.db, account, TEMPLATES);

    const { out } = await ops('chat-template', 'show', account, 'order_shipped', 'en_US');
    expect(out).to.match(/^header +image$/m);
    expect(out).to.match(/^button 2 +url "Track" https:\/\/shop\.example\/track\/\{\{1\}\}$/m);
    expect(out).to.match(/^params\[0\] +the https address of the image in the header$/m);
    expect(out).to.match(/^params\[3\] +the url suffix of button 2 \("Track"\)$/m);
    expect(await json('chat-template', 'show', account, 'login_code', 'en_US')).to.deep.include({
      params: 1,
      unsendable: null,
      takes: ['the one-time password, for body {{1}} and button 0 ("Copy code")'],
    });
    expect((await ops('chat-template', 'show', account, 'season', 'en_US')).out).to.match(
      /^cannot be sent +it has a component of type carousel$/m,
    );
    expect(await ops('chat-template', 'show', account, 'none', 'en_US')).to.include({ code: 1 });
    expect((await ops('chat-template', 'list', account)).out).to.match(/order_shipped +en_US +approved +utility +4 /);
  });

  it('chat-template show: texts cannot control the terminal', async () => {
    const components = [{ type: 'BODY', text: 'a\u001b[2Jb\nc' }];
    await copyTemplates(world.store.db, account, [{ name: 'n', status: 'APPROVED', language: 'en', components }]);

    expect((await ops('chat-template', 'show', account, 'n', 'en')).out).to.match(/^body +a \[2Jb c$/m);
  });
});
