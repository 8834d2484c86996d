import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Db } from 'mongodb';
import { type BrowserContextOptions, type Browser as Chromium, chromium, type Page } from 'playwright-core';
import type { GatewayDeps } from '../../../gateway/http/deps.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { builtDashboard } from '../../support/dashboard.ts';
import { debianProgram } from '../../support/debian.ts';
import { eventually } from '../../support/eventually.ts';
import { openGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import type { Browser } from '../../support/signed-in.ts';
import { openTestStore } from '../../support/store.ts';
import { accessFaults, LOOKS, type Look } from './access.ts';

type LookName = keyof typeof LOOKS;
const LOOK_NAMES = Object.keys(LOOKS) as readonly LookName[]; // the table's own keys

/** A folder for a picture of each checked page, if set. */
const PICTURES = process.env.DASHBOARD_PICTURES;

/** The dashboard in Chromium. Forbidden behaviour of pages is collected, and `close` fails if there was any. */
export class DashboardWorld {
  readonly url: string;
  readonly #chromium: Chromium;
  readonly #faults: string[] = [];

  constructor(url: string, browser: Chromium) {
    this.url = url;
    this.#chromium = browser;
  }

  /** A page in a new browser, as the user who has signed in with `as`, or as nobody. */
  async visit(
    path: string,
    as?: Browser,
    { width, colorScheme }: Look = LOOKS.wide,
    more: BrowserContextOptions = {},
  ): Promise<Page> {
    const context = await this.#chromium.newContext({ colorScheme, viewport: { width, height: 800 }, ...more });
    if (as !== undefined) await context.addCookies([cookieOf(as, this.url)]);
    const page = await context.newPage();
    this.#watch(page);
    await page.goto(this.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  /** The page's current faults in the given looks. Empty is good. */
  async look(page: Page, name: string, looks: readonly LookName[] = LOOK_NAMES): Promise<string[]> {
    const found: string[] = [];
    for (const look of looks) {
      const { width, colorScheme } = LOOKS[look];
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      for (const fault of await accessFaults(page)) found.push(`${name}, ${look}: ${fault}`);
      if (PICTURES !== undefined) {
        mkdirSync(PICTURES, { recursive: true });
        await page.screenshot({ path: join(PICTURES, `${name}-${look}.png`), fullPage: true });
      }
    }
    return found;
  }

  async close(): Promise<void> {
    await this.#chromium.close();
    if (this.#faults.length > 0) throw new Error(`the browser complained:\n${[...new Set(this.#faults)].join('\n')}`);
  }

  /** Collects script errors, violations of the content security policy, and requests to other servers. */
  #watch(page: Page): void {
    page.on('pageerror', (error) => this.#faults.push(`${page.url()}: ${error.message}`));
    page.on('console', (line) => {
      // The browser also logs problem answers, which the page shows.
      if (line.type() !== 'error' || line.text().startsWith('Failed to load resource')) return;
      this.#faults.push(`${page.url()}: ${line.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(`${this.url}/`)) this.#faults.push(`${page.url()} asked ${request.url()}`);
    });
  }
}

export async function openDashboard(url: string): Promise<DashboardWorld> {
  const executablePath = await debianProgram('chromium', 'chromium');
  // Its sandbox needs rights that a container may not give; the pages are ours.
  return new DashboardWorld(url, await chromium.launch({ executablePath, args: ['--no-sandbox'] }));
}

export interface GatewayWithDashboard {
  readonly db: Db;
  readonly account: AccountId;
  readonly dashboard: DashboardWorld;
  close(): Promise<void>;
}

export async function openGatewayWithDashboard(overrides: Partial<GatewayDeps> = {}): Promise<GatewayWithDashboard> {
  await builtDashboard();
  const store = await openTestStore();
  const gateway = await openGateway(store.db, overrides);
  const dashboard = await openDashboard(gateway.url);
  return {
    db: store.db,
    account: await makeAccount(store.db, 4_200, { name: 'Asha Traders' }),
    dashboard,
    close: async () => {
      await dashboard.close().finally(async () => {
        await gateway.close();
        await store.close();
      });
    },
  };
}

/** Waits until an expression is true. The policy forbids the page to evaluate text, but not the debugger. */
export async function until(page: Page, expression: string): Promise<void> {
  await eventually(() => page.evaluate<boolean>(expression), expression);
}

function cookieOf({ headers }: Browser, url: string): { name: string; value: string; url: string } {
  const [name = '', value = ''] = headers.Cookie?.split('=') ?? [];
  return { name, value, url };
}
