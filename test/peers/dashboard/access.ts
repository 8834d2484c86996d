import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

export interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

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
 * What would hinder people with a screen reader, a keyboard or weak eyes, as far as programs can tell: axe's findings,
 * and known gaps of axe. The content security policy forbids pages to load axe, so the debugger injects it.
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

/**
 * Checks for what axe 4.14 misses, as expressions that return sentences: it found half of the faults that we made on
 * purpose. `focusFaults` finds what shows only on use (a dialog without focus, a missing outline).
 */
const CHECKS: readonly string[] = [
  `all('table').filter((table) => table.querySelector('th') === null).map(said('a table without heads'))`,
  `all('th').filter((head) => head.textContent.trim() === '' && !head.ariaLabel).map(said('a head without a name'))`,
  // An error that no field refers to is never read out.
  `all('[aria-invalid="true"]').filter((field) => !(field.getAttribute('aria-describedby') ?? '').split(' ')
     .some((id) => document.getElementById(id)?.textContent.trim())).map(said('a wrong field without its error'))`,
  // A picture of numbers needs words too.
  `all('canvas').filter((canvas) => canvas.closest('[aria-hidden="true"]') === null && !canvas.ariaLabel).map(said('a canvas without a name'))`,
  `all('canvas').filter((canvas) => canvas.closest('figure')?.querySelector('table') === null).map(said('a plot without a table'))`,
  // The placeholder disappears on typing.
  `all('input, textarea, select').filter((field) => field.type !== 'hidden' && field.labels?.length === 0 && !field.ariaLabel
     && !field.getAttribute('aria-labelledby')).map(said('a field without a label'))`,
  `all('a, button').filter((link) => /^(click here|here|more|link|ok|submit)$/i.test(link.textContent.trim())).map(said('a name that says nothing'))`,
  // Elements that look pressable but work with a mouse only.
  `all('body *').filter((one) => getComputedStyle(one).cursor === 'pointer' && one.closest('a, button, label, summary, select, input, [role="button"], [role="tab"]') === null)
     .map(said('something to press that the keyboard does not reach'))`,
  // Scrolling areas must be reachable by keyboard.
  `all('main *, dialog, dialog *').filter((one) => /auto|scroll/.test(getComputedStyle(one).overflow) && one.checkVisibility()
     && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
     && one.tabIndex < 0 && one.querySelector('a, button, input, select, textarea, [tabindex="0"]') === null && !/^(TEXTAREA|SELECT|INPUT)$/.test(one.tagName))
     .map(said('something scrolls that the keyboard does not reach'))`,
  // On a phone rows are cards: no list scrolls sideways.
  `innerWidth > 600 ? [] : all('.table-box:has(.cards)').filter((one) => one.scrollWidth > one.clientWidth + 1).map(said('a list that is wider than a phone'))`,
  // State by colour alone.
  `all('.badge').filter((badge) => badge.textContent.trim() === '').map(said('a state without a word'))`,
  // Without sight, one learns from a live region what happened.
  `document.querySelector('[role="status"], [aria-live], [role="alert"], output') === null ? ['no live region'] : []`,
  `document.title.trim() === '' || document.querySelectorAll('h1').length !== 1 ? ['not exactly one h1, or no title'] : []`,
];

const MISSED_BY_AXE = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const said = (what) => (element) => what + ': ' + element.outerHTML.slice(0, 160);
  return [${CHECKS.map((check) => `...(${check})`).join(',\n')}];
})()`;

/** More than any page has elements to reach. */
const STEPS_MAX = 200;

interface Step {
  readonly name: string;
  readonly isSeen: boolean;
}

/** Goes through the page with Tab and reports elements that look the same with focus as without. */
export async function focusFaults(page: Page): Promise<string[]> {
  await page.evaluate('document.activeElement?.blur?.(), scrollTo(0, 0)');
  const faults: string[] = [];
  const seen = new Set<string>();
  for (let step = 0; step < STEPS_MAX; step += 1) {
    await page.keyboard.press('Tab');
    const at: Step | null = await page.evaluate(FOCUSED);
    if (at === null || seen.has(at.name)) break;
    seen.add(at.name);
    if (!at.isSeen) faults.push(`the focus is not seen on ${at.name}`);
  }
  if (seen.size === 0) faults.push('Tab reaches nothing');
  return faults;
}

const FOCUSED = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return null;
  const look = () => { const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = getComputedStyle(one);
    return [outlineStyle === 'none' ? '' : outlineWidth, boxShadow, borderColor, backgroundColor].join(); };
  const focused = look();
  const rules = one.matches(':focus-visible');
  one.blur();
  const plain = look();
  one.focus({ focusVisible: true, preventScroll: true });
  const number = [...document.querySelectorAll('*')].indexOf(one);
  return { name: number + ' ' + one.outerHTML.slice(0, 120), isSeen: rules && focused !== plain };
})()`;
