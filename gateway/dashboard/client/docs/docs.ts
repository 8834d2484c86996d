import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/frame.css';
import '../styles/docs.css';
import { applyTheme, storedTheme } from '../frame/theme.ts';
import { toClipboard } from '../parts/clipboard.ts';
import { search } from './search.ts';
import { addTryForms } from './try.ts';

// In the head, before the first paint, so that a chosen theme never flashes. The page can be read without this script.
applyTheme(storedTheme());

document.addEventListener('DOMContentLoaded', () => {
  document.documentElement.classList.add('scripted');
  const origin = document.getElementById('origin');
  if (origin !== null) origin.textContent = location.origin;
  chooseLanguages();
  addCopyButtons();
  addTryForms();
  search();
});

const SHOWN_MS = 2_000;

/** A button at every sample. It copies what is shown of it. */
function addCopyButtons(): void {
  for (const sample of document.querySelectorAll('.sample')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy-sample';
    const name = sample.querySelector('.sample-name');
    button.setAttribute('aria-label', `Copy ${name?.querySelector('span')?.textContent ?? ''}`);
    button.textContent = 'Copy';
    button.addEventListener('click', () => copy(button, sample));
    name?.append(button);
  }
}

async function copy(button: HTMLElement, sample: Element): Promise<void> {
  const shown = [...sample.querySelectorAll('pre')].find((block) => block.checkVisibility());
  button.textContent = (await toClipboard(shown?.textContent ?? '')) ? 'Copied' : 'Select it, then copy';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, SHOWN_MS);
}

/** One choice for all samples. Without the script each language is behind its name. */
function chooseLanguages(): void {
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
