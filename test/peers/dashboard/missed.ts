/**
 * Checks for what axe 4.14 misses, as expressions for the page: of the faults that we put into a page on purpose it saw half.
 * Each gives sentences. What shows only when somebody acts (a dialog that loses the focus, an outline that is gone) is in
 * `keyboard.ts`.
 */
const CHECKS: readonly string[] = [
  // A list of rows whose columns have no name.
  `all('table').filter((table) => table.querySelector('th') === null).map(said('a table without heads'))`,
  `all('th').filter((head) => head.textContent.trim() === '' && !head.ariaLabel).map(said('a head without a name'))`,
  // An error that no field refers to is read to nobody.
  `all('[aria-invalid="true"]').filter((field) => !(field.getAttribute('aria-describedby') ?? '').split(' ')
     .some((id) => document.getElementById(id)?.textContent.trim())).map(said('a wrong field without its error'))`,
  // A picture of numbers must be told in words too.
  `all('canvas').filter((canvas) => canvas.closest('[aria-hidden="true"]') === null && !canvas.ariaLabel).map(said('a canvas without a name'))`,
  `all('canvas').filter((canvas) => canvas.closest('figure')?.querySelector('table') === null).map(said('a plot without a table'))`,
  // The placeholder is gone when one types.
  `all('input, textarea, select').filter((field) => field.type !== 'hidden' && field.labels?.length === 0 && !field.ariaLabel
     && !field.getAttribute('aria-labelledby')).map(said('a field without a label'))`,
  `all('a, button').filter((link) => /^(click here|here|more|link|ok|submit)$/i.test(link.textContent.trim())).map(said('a name that says nothing'))`,
  // Elements that only a mouse can press: they look as if they could be pressed.
  `all('body *').filter((one) => getComputedStyle(one).cursor === 'pointer' && one.closest('a, button, label, summary, select, input, [role="button"], [role="tab"]') === null)
     .map(said('something to press that the keyboard does not reach'))`,
  // What scrolls must be reached by the keyboard.
  `all('main *, dialog, dialog *').filter((one) => /auto|scroll/.test(getComputedStyle(one).overflow) && one.checkVisibility()
     && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)
     && one.tabIndex < 0 && one.querySelector('a, button, input, select, textarea, [tabindex="0"]') === null && !/^(TEXTAREA|SELECT|INPUT)$/.test(one.tagName))
     .map(said('something scrolls that the keyboard does not reach'))`,
  // On a phone rows are cards: nobody has to push a list sideways.
  `innerWidth > 600 ? [] : all('.table-box:has(.cards)').filter((one) => one.scrollWidth > one.clientWidth + 1).map(said('a list that is wider than a phone'))`,
  // State by colour alone.
  `all('.badge').filter((badge) => badge.textContent.trim() === '').map(said('a state without a word'))`,
  // Somebody who cannot see the page learns from a live region what happened.
  `document.querySelector('[role="status"], [aria-live], [role="alert"], output') === null ? ['no live region'] : []`,
  `document.title.trim() === '' || document.querySelectorAll('h1').length !== 1 ? ['not exactly one h1, or no title'] : []`,
];

/** One expression with the findings of all. */
export const MISSED_BY_AXE = `(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const said = (what) => (element) => what + ': ' + element.outerHTML.slice(0, 160);
  return [${CHECKS.map((check) => `...(${check})`).join(',\n')}];
})()`;
