import { providersOf, setProvider } from '../../../shared/carriers/providers/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { ended, WorkerProcesses } from '../../support/worker-processes.ts';
import { type FileServer, openFiles } from './file-server.ts';
import { DRAFT, TEMPLATES_PATH, TemplateWorld } from './template-world.ts';
import { chatWorld } from './world.ts';

/** The key of `TEST_BOX`. */
const KEY = Buffer.alloc(32, 7).toString('hex');
const ENV = {
  HARKARA_SECRET_KEY: KEY,
  HARKARA_WEBHOOK_ALLOW_HTTP: 'yes',
  HARKARA_WEBHOOK_ALLOW_SUBNETS: '127.0.0.0/8',
};

describe('chatapp worker: templates with a file in their header', () => {
  const world = chatWorld();
  const workers = new WorkerProcesses('chatapp');
  let site: TemplateWorld;
  let files: FileServer;
  beforeEach(async () => {
    files = await openFiles();
    // Callback times are whole seconds: equal decisions within one would look like a repeated post.
    site = await TemplateWorld.open(world, 1_000);
  });
  afterEach(async () => {
    await workers.killAll();
    await site.close();
    files.close();
  });

  const header = (format: string, path: string) => ({ header: { format, example_url: `${files.url}${path}` } });
  const edit = (name: string, more: object) => {
    const { language, ...content } = { ...DRAFT, ...more };
    return site.call('patch', `${TEMPLATES_PATH}/${name}/${language}`, content);
  };
  const asked = () => site.provider.templateRequests().map(({ method, status }) => `${method} ${status}`);

  it('its sample is uploaded, it is approved, sent, and edited to another file', async () => {
    await world.startWorker();
    const { body } = await site.ask('picture', header('image', '/good.png')).expect(200);
    expect(body).to.deep.include({ state: 'requested', header: { format: 'image', text: null } });
    expect(body.examples.header_url).to.equal(`${files.url}/good.png`);

    const shown = await site.until('picture', 'approved');

    expect(shown).to.deep.include({ header: { format: 'image', text: null }, change: null, cannot_be_sent: null });
    expect(site.provider.uploads()).to.deep.equal(['image/png']);
    const params = ['https://shop.harkara.in/a.png', 'Asha', '#1234', 'abc', '25OFF'];
    const sent = { to: '919876543210', template: 'picture', language: 'en_US', params };
    await site.call('post', '/v2/chatapp/send', sent).expect(200);

    await edit('picture', header('document', '/good.pdf')).expect(200);

    await eventually(() => site.provider.uploads().length === 2, 'the other file is uploaded');
    await eventually(async () => {
      const { header: now, change, state } = (await site.shown('picture')) ?? {};
      expect({ now, change, state }).to.deep.equal({
        now: { format: 'document', text: null },
        change: null,
        state: 'approved',
      });
      return true;
    }, 'it has the other header');
    expect(site.provider.uploads()[1]).to.equal('application/pdf');
    expect(asked()).to.deep.equal(['POST 200', 'EDIT 200']);
  });

  it('a carousel: the sample of each card is uploaded, it is approved, shown with its cards, and edited', async () => {
    await world.startWorker();
    const card = (path: string) => ({
      header: { format: 'image', example_url: `${files.url}${path}` },
      buttons: [{ type: 'quick_reply', text: 'More' }],
    });
    const content = {
      category: 'marketing',
      body: 'Look what came in.',
      cards: [card('/good.png'), card('/good.png')],
    };
    const asks = { name: 'plants', language: 'en_US', ...content };
    await site.call('post', TEMPLATES_PATH, asks).expect(200);

    const shown = await site.until('plants', 'approved');

    expect(site.provider.uploads()).to.deep.equal(['image/png', 'image/png']);
    expect(shown).to.deep.include({ change: null, cannot_be_sent: null, body: 'Look what came in.' });
    expect(shown.cards).to.have.length(2);
    expect(shown).to.have.nested.property('examples.cards[1].header_url', `${files.url}/good.png`);
    await site.call('patch', `${TEMPLATES_PATH}/plants/en_US`, { ...content, body: 'Look again.' }).expect(200);
    await eventually(async () => (await site.shown('plants'))?.body === 'Look again.', 'it has the other body');
    expect(asked()).to.deep.equal(['POST 200', 'EDIT 200']);
  });

  for (const [what, format, path, reason] of [
    ['gone', 'image', '/gone.png', /Its address answers HTTP 404/],
    ['moved', 'image', '/moved.png', /HTTP 302\. Give the address that it leads to/],
    ['too large, as it says', 'image', '/long.png', /more than 5 MB/],
    ['endless', 'image', '/endless.png', /more than 5 MB/],
    ['a page', 'image', '/page.png', /not a JPEG or PNG image/],
    ['of another type', 'video', '/no-extension', /not an MP4 video/],
  ] as const) {
    it(`a file that is ${what}: rejected with the reason, announced, and asked for anew with another`, async () => {
      await world.startWorker();
      await site.ask('picture', header(format, path)).expect(200);

      const { reason: told, change } = await site.until('picture', 'rejected');

      expect(told).to.match(reason);
      expect(change).to.equal(null);
      expect(asked()).to.deep.equal([]);
      expect(await site.announced('picture')).to.deep.equal(['template.rejected rejected']);
      await edit('picture', header('video', '/good.mp4')).expect(200);
      await site.until('picture', 'approved');
      expect(site.provider.uploads()).to.deep.equal(['video/mp4']);
    });
  }

  it('a server that breaks the connection is asked again', async () => {
    await world.startWorker();
    await site.ask('picture', header('image', '/cut-once.png')).expect(200);

    await site.until('picture', 'approved');

    expect(files.asked).to.deep.equal(['/cut-once.png', '/cut-once.png']);
    expect(asked()).to.deep.equal(['POST 200']);
  });

  it('while its file does not come, the account may want something else; a stop does not wait for it', async () => {
    const worker = await world.startWorker();
    await site.ask('picture', header('image', '/hangs.png')).expect(200);
    await eventually(() => files.asked.length === 1, 'it is asked for');
    const path = `${TEMPLATES_PATH}/picture/en_US`;

    expect((await site.call('delete', path).expect(200)).body).to.include({ removed: true });

    await worker.stop();
    expect(asked()).to.deep.equal([]);
  });

  it('while the app id is wrong it waits, and the operator is told; with the right one it is asked for', async () => {
    await site.close();
    site = await TemplateWorld.open(world, 50, '4711');
    const { db } = world.store;
    await world.startWorker();
    await site.ask('picture', header('image', '/good.png')).expect(200);

    const trouble = async () => (await providersOf(db, [site.account]))[0]?.troubles?.requests;
    const told = await eventually(trouble, 'the operator is told');

    expect(told?.reason).to.equal('there is no such app id, or the access token may not upload to it');
    expect(await site.shown('picture')).to.include({ state: 'requested', reason: null });
    const { displayNumber, appId } = site.provider.options;
    await setProvider(db, systemClock, TEST_BOX, site.account, displayNumber, { appId });
    await site.until('picture', 'approved');
    expect(asked()).to.deep.equal(['POST 200']);
    expect(await trouble()).to.equal(undefined);
  });

  it('kill -9 between the upload and the question: uploaded again, asked once', async () => {
    const first = await workers.start(world.store, { ...ENV, HARKARA_CRASH_AT: 'template:asked' });
    await site.ask('picture', header('image', '/good.png')).expect(200);
    await ended(first);
    expect([site.provider.uploads().length, asked().length]).to.deep.equal([1, 0]);

    await workers.start(world.store, ENV);

    await site.until('picture', 'approved');
    expect(site.provider.uploads()).to.have.length(2);
    expect(asked()).to.deep.equal(['POST 200']);
    expect(await site.announced('picture')).to.deep.equal(['template.approved approved']);
  });
});
