import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { MISSED_BY_AXE } from './missed.ts';

export interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** A phone and a wide screen, light and dark. */
export const LOOKS = {
  phone: { width: 360, colorScheme: 'light' },
  'phone-dark': { width: 360, colorScheme: 'dark' },
  wide: { width: 1200, colorScheme: 'light' },
  'wide-dark': { width: 1200, colorScheme: 'dark' },
} as const satisfies Record<string, Look>;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { 'target-size': { enabled: true } },
};

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly any: readonly { readonly message: string }[] }[];
}

/**
 * What people with a screen reader, a keyboard or weak eyes would stumble over, as far as a program can tell: what axe finds, and
 * what it is known to miss (an error that no field refers to, a page that is wider than the screen).
 * The content security policy forbids a page to load axe, so axe is injected through the debugger.
 */
export async function accessFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations }: { violations: Violation[] } = await page.evaluate(`axe.run(${JSON.stringify(RULES)})`);
  const dangling: string[] = await page.evaluate(`
    [...document.querySelectorAll('[aria-describedby], [aria-labelledby]')].flatMap((element) =>
      ['aria-describedby', 'aria-labelledby'].flatMap((name) => (element.getAttribute(name) ?? '').split(' '))
        .filter((id) => id !== '' && document.getElementById(id) === null)
        .map((id) => 'nothing has the id ' + id + ', which is named by ' + element.outerHTML.slice(0, 120)))`);
  const missed: string[] = await page.evaluate(MISSED_BY_AXE);
  const overflow: number = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  return [
    ...violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
    ),
    ...dangling,
    ...missed,
    ...(overflow > 0 ? [`the page is ${overflow} px wider than the screen`] : []),
  ];
}
