import type { Page } from 'playwright-core';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

/** "At most 150 KB of script (gz) on a page, first view ≤ 300 ms on loopback": bytes are asserted, times only printed. */
const SCRIPT_BYTES_MAX = 150 * 1024;

interface View {
  readonly scripts: number;
  readonly bytes: number;
  readonly paintMs: number;
}

describe('the first view of the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let owner: Browser;
  before(async () => {
    owner = await signedIn(world.db, 'owner', world.account);
  });

  for (const path of ['/dashboard', '/dashboard/credits', '/dashboard/profile']) {
    it(`loads ${path} with little script, and once`, async () => {
      const views: (View & { readonly headingMs: number; readonly cpuMs: number })[] = [];
      for (let visit = 0; visit < 5; visit++) {
        // Each visit has a browser of its own: nothing is in its cache.
        const began = performance.now();
        const page = await world.dashboard.visit(path, owner);
        const headingMs = performance.now() - began;
        const view: View = await page.evaluate(`(() => {
          const scripts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
          return {
            scripts: new Set(scripts.map(({ name }) => name)).size,
            bytes: scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
            paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1,
          };
        })()`);
        views.push({ ...view, headingMs, cpuMs: await cpuMs(page) });
        await page.close();
      }
      const told = views.map((one) => [one.paintMs, one.headingMs, one.cpuMs].map(Math.round).join('/')).join(' ');
      console.log(
        `      ${views[0]?.scripts} scripts, ${views[0]?.bytes} bytes; ms to first paint/heading, CPU of the page: ${told}`,
      );

      expect(views.map(({ bytes }) => bytes).filter((bytes) => bytes === 0 || bytes > SCRIPT_BYTES_MAX)).to.deep.equal(
        [],
      );
    });
  }
});

/** CPU time of the page's process since it began: on a busy machine it says more than the clock. */
async function cpuMs(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'ProcessTime')?.value ?? 0) * 1_000;
}
