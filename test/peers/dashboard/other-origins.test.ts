import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

const BODY = JSON.stringify({ customer: '919876543210' });
/** Scripts of the hostile page that try to change something through the API. */
const ATTACKS: Readonly<Record<string, (url: string) => string>> = {
  'a form whose text is JSON': (url) => `(() => {
    const form = document.createElement('form');
    Object.assign(form, { method: 'post', action: '${url}', enctype: 'text/plain' });
    const field = document.createElement('input');
    field.name = '${BODY.slice(0, -1)},"x":"';
    field.value = '"}';
    form.append(field);
    document.body.append(form);
    form.submit();
  })()`,
  'fetch without CORS': (url) =>
    `fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '${BODY}' }).catch(() => 0).then(() => 0)`,
  'fetch with the dashboard’s headers': (url) =>
    `fetch('${url}', { method: 'POST', credentials: 'include', body: '${BODY}',
      headers: { 'Content-Type': 'application/json', 'x-dashboard': '1' } }).catch(() => 0).then(() => 0)`,
};

/** ASVS 3.5.1, 3.5.2: a hostile page in a signed-in user's browser changes nothing. */
describe('a hostile page in the browser of a user who has signed in', () => {
  const world = use(openGatewayWithDashboard);
  let owner: Browser;
  let hostile: Server;
  let port: number;
  before(async () => {
    owner = await signedIn(world.db, 'owner', world.account);
    hostile = createServer((_req, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end('<h1>Prize</h1>'));
    await new Promise<void>((resolve) => hostile.listen(0, resolve));
    port = (hostile.address() as AddressInfo).port; // it listens on a port
  });
  after(async () => {
    hostile.closeAllConnections();
    hostile.close();
  });

  // Another port is another origin of the same site, so the browser sends the cookie. Another name is another site.
  for (const host of ['127.0.0.1', 'localhost']) {
    for (const [how, act] of Object.entries(ATTACKS)) {
      it(`${how}, from ${host}: refused, and nothing is stored`, async () => {
        const page = await world.dashboard.visit('/dashboard/credits', owner);
        page.removeAllListeners(); // These listeners report what the dashboard may not do, but this page does.
        const statuses: number[] = [];
        page.on('response', (answer) => {
          if (answer.request().method() === 'POST') statuses.push(answer.status());
        });
        await page.goto(`http://${host}:${port}/`);

        const url = `${world.dashboard.url}/v2/account/opt-outs`;
        await page.evaluate(act(url));
        if (how.startsWith('a form')) await page.waitForURL(url);

        expect(await world.db.collection('opt_outs').countDocuments()).to.equal(0);
        expect(statuses.filter((status) => status !== 401 && status !== 403)).to.deep.equal([]);
        await page.context().close();
      });
    }
  }

  it('the same from the dashboard itself is done: the judge would see it', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);

    await page.evaluate(ATTACKS['fetch with the dashboard’s headers']?.('/v2/account/opt-outs') ?? '');

    expect(await world.db.collection('opt_outs').countDocuments()).to.equal(1);
  });
});
