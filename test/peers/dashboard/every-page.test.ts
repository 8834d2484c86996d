import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { CUSTOMER } from '../../support/chat-gateway.ts';
import { eventually } from '../../support/eventually.ts';
import { makeAccount } from '../../support/make.ts';
import { askAs, furnish, type Ids, oneOfEach } from '../../support/one-of-each.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { ROOT } from '../../support/sources.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

/** A name that would run if a page took it for HTML. */
const HOSTILE = '<img src=x onerror=document.title=1>';
/** The most that the scripts of one page may have, compressed. */
const SCRIPT_BYTES_MAX = 150 * 1024;

interface Place {
  readonly path: string;
  readonly needs: string | undefined;
}

/** The pages of client/pages.tsx, read as text because Node cannot import code for browsers. */
const PLACES: readonly Place[] = [
  ...readFileSync(join(ROOT, 'gateway/dashboard/client/pages.tsx'), 'utf8').matchAll(
    /^ {2}page\(\s*'([^']+)',\s*'[^']+',\s*\[?(?:'([^']+)')?/gm,
  ),
].map(([, path = '', needs]) => ({ path, needs }));

/** What every page must fulfil: a new page is tested without a change here. */
describe('every page of the dashboard', function () {
  this.timeout(300_000);
  const world = use(openGatewayWithDashboard);
  let owner: Browser;
  let ids: Ids;
  before(async () => {
    const { db, account, dashboard } = world;
    await db.collection('accounts').updateOne({ name: 'Asha Traders' }, { $set: { name: HOSTILE } });
    await furnish(db, account);
    owner = await signedIn(db, 'owner', account, { user: { name: HOSTILE } });
    await askAs(`${dashboard.url}/v2/account/keys`, owner.headers, 'post', { name: HOSTILE, scopes: ['read'] });
    ids = await oneOfEach(dashboard.url, owner.headers);
  });

  it('with data: nobody stumbles, names stay text (ASVS 3.2.2), Sign out is there (7.4.4), scripts are small', async () => {
    const wrong: string[] = [];
    const page = await world.dashboard.visit('/dashboard/profile', owner);
    for (const path of filled('account', idOf)) {
      await open(page, path);
      wrong.push(...(await world.dashboard.look(page, named(path), ['phone', 'wide-dark'])));
      wrong.push(...(await faultsOf(page, path)));
    }

    expect(wrong).to.deep.equal([]);
  });

  it('of a new account: says what to do, and shows nothing of another account, whose ids are not found', async () => {
    const stranger = await signedIn(world.db, 'owner', await makeAccount(world.db, 0));
    const known = new Set([...ids].filter(([name]) => name !== 'request_id').flatMap(([, values]) => [...values]));
    const wrong: string[] = [];
    const page = await world.dashboard.visit('/dashboard/profile', stranger);
    for (const path of filled('account', idOf)) {
      await open(page, path);
      const asked = path.split('/').map(decodeURIComponent);
      const text = (await page.locator('body').textContent()) ?? '';
      const told = [...known].filter((id) => text.includes(id) && !asked.includes(id));
      wrong.push(
        ...told.map((id) => `${path} shows ${id}`),
        ...(text.includes(HOSTILE) ? [`${path} shows a name`] : []),
      );
      if (!path.includes('_'))
        wrong.push(...(await world.dashboard.look(page, `${named(path)}-empty`, ['phone-dark', 'wide'])));
    }

    expect(wrong).to.deep.equal([]);
  });

  it('when the gateway fails: says so, and what to do', async () => {
    const wrong: string[] = [];
    const page = await world.dashboard.visit('/dashboard/profile', owner);
    await page.route(/\/v2\/(?!session)/, (route) =>
      route.fulfill({ status: 500, contentType: 'application/problem+json', body: FAILURE }),
    );
    for (const path of filled('account', idOf)) {
      await page.goto(world.dashboard.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const shown = page.getByText('req_01m7znjn7hdb5pft3awkb6pgvz').first();
      if (
        !STILL.includes(path) &&
        !(await shown.waitFor({ timeout: 60_000 }).then(
          () => true,
          () => false,
        ))
      ) {
        wrong.push(
          `${path} does not show the request's id: ${(await page.locator('main').textContent())?.slice(0, 200)}`,
        );
      }
    }
    wrong.push(...(await world.dashboard.look(page, 'failed')));

    expect(wrong).to.deep.equal([]);
  });

  it('of a viewer, or of an operator: only what the role may see, and never an error', async () => {
    const wrong: string[] = [];
    for (const role of ['viewer', 'operator'] as const) {
      const user = await signedIn(world.db, role, role === 'viewer' ? world.account : undefined);
      const page = await world.dashboard.visit('/dashboard/profile', user);
      for (const path of filled(role, idOf)) {
        await open(page, path);
        if (role === 'operator') {
          wrong.push(...(await world.dashboard.look(page, named(path), ['phone-dark', 'wide'])));
          wrong.push(...(await faultsOf(page, path)));
        }
        const failed = await page
          .locator('main')
          .getByText(/scope_missing|Scope missing|Internal error/)
          .count();
        if (failed > 0) wrong.push(`${role}, ${path}: ${(await page.locator('main').textContent())?.slice(0, 200)}`);
      }
      await page.context().close();
    }

    expect(wrong).to.deep.equal([]);
  });

  const idOf = (name: string): string | undefined =>
    ({ account_id: world.account, customer: CUSTOMER, month: new Date().toISOString().slice(0, 7) })[name] ??
    [...(ids.get(name) ?? [])][0];

  async function open(page: Page, path: string): Promise<void> {
    await page.goto(world.dashboard.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await eventually(async () => (await page.locator('.skeleton').count()) === 0, `${path} without skeletons`);
  }
});

/** The paths that this kind of user may see, with ids filled in; left out if an id is missing. */
function filled(who: 'account' | 'viewer' | 'operator', idOf: (name: string) => string | undefined): string[] {
  const seen = PLACES.filter(
    ({ needs }) => needs !== 'open' && (who === 'operator') === (needs?.startsWith('admin:') === true),
  );
  return seen.flatMap(({ path }) => {
    const names = path.match(/(?<=:)\w+/g) ?? [];
    if (names.some((name) => idOf(name) === undefined)) return [];
    return [path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(idOf(name) ?? ''))];
  });
}

function named(path: string): string {
  return `page${path
    .replace('/dashboard', '')
    .replaceAll(/\/(\w{3}_)?\w{26}/g, '-one')
    .replaceAll('/', '-')}`;
}

async function faultsOf(page: Page, path: string): Promise<string[]> {
  await eventually(async () => (await page.title()) !== '', 'a title');
  const seen: { images: number; title: string; bytes: number; leave: number; here: number } = await page.evaluate(`({
    images: document.querySelectorAll('img[src="x"]').length,
    title: document.title,
    leave: [...document.querySelectorAll('button, a')].filter((one) => one.textContent.trim() === 'Sign out').length,
    here: document.querySelectorAll('.side [aria-current="page"]').length,
    bytes: performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  })`);
  return [
    ...(seen.images > 0 || seen.title === '1' ? [`${path}: a name became HTML`] : []),
    ...(seen.here > 1 ? [`${path}: the navigation is at ${seen.here} places at once`] : []),
    ...(seen.leave === 0 ? [`${path}: no Sign out`] : []),
    ...(seen.bytes > SCRIPT_BYTES_MAX ? [`${path}: ${seen.bytes} bytes of script`] : []),
  ];
}

const FAILURE = JSON.stringify({
  type: '/errors/internal_error',
  title: 'Internal error',
  status: 500,
  detail: 'Report the `request_id` to your service provider.',
  code: 'internal_error',
  status_code: '5000',
  errors: [],
  request_id: 'req_01m7znjn7hdb5pft3awkb6pgvz',
  retryable: false,
});

/** Pages that show no failed request: they only load templates, and one can send without those. */
const STILL: readonly string[] = ['/dashboard/send', '/dashboard/send/many'];
