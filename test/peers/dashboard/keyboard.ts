import type { Page } from 'playwright-core';

/** More steps than any page has things to reach. */
const STEPS_MAX = 200;

interface Step {
  readonly name: string;
  readonly isSeen: boolean;
}

/**
 * Goes through the page with Tab. Reports every element that looks the same with the focus as without it: somebody without a
 * mouse would not know where they are.
 */
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
