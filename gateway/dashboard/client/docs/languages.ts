/** One choice for all samples. Without the script each language is behind its name. */
export function chooseLanguages(): void {
  for (const sample of document.querySelectorAll('.sample')) {
    const shown = [...sample.querySelectorAll<HTMLDetailsElement>('details[data-language]')];
    if (shown.length === 0) continue;
    const choice = document.createElement('span');
    choice.className = 'languages';
    choice.setAttribute('role', 'group');
    choice.setAttribute('aria-label', 'Language');
    for (const { dataset } of shown) choice.append(languageButton(dataset.language ?? ''));
    sample.querySelector('.sample-name')?.append(choice);
  }
  show('curl');
}

function languageButton(language: string): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = language;
  button.addEventListener('click', () => {
    // The samples above get other heights. What was clicked stays where it is.
    const before = button.getBoundingClientRect().top;
    show(language);
    scrollBy({ top: button.getBoundingClientRect().top - before, behavior: 'instant' });
  });
  return button;
}

function show(language: string): void {
  for (const one of document.querySelectorAll<HTMLDetailsElement>('details[data-language]')) {
    one.open = one.dataset.language === language;
    one.hidden = !one.open;
  }
  for (const button of document.querySelectorAll('.languages button')) {
    button.setAttribute('aria-pressed', String(button.textContent === language));
  }
}
