import '../styles/base.css';
import '../styles/frame.css';
import '../styles/forms.css';
import '../styles/docs.css';
import '../frame/theme.ts';
import { toClipboard } from '../parts/clipboard.ts';

// The page can be read without this script.
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

/** Copies only the language that is shown. */
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

/** Choosing a language applies to all samples. Without the script each language can be unfolded. */
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
    // Samples above change their heights: keep the clicked button where it was.
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

interface Entry {
  readonly item: HTMLElement;
  readonly name: string;
  /** The lower-case text that is searched. */
  readonly text: string;
}

/** Filters the table of contents by the text of each section. `/` focuses the box, Escape clears it. */
function search(): void {
  const form = document.querySelector<HTMLFormElement>('form.search');
  const box = form?.querySelector('input');
  const status = form?.querySelector('[role="status"]');
  const navigation = form?.parentElement;
  if (!form || !box || !status || !navigation) return;
  form.hidden = false;
  // Filled at the first search, because it reads the whole page.
  let read: readonly Entry[] | undefined;
  const entriesNow = (): readonly Entry[] => {
    read ??= [...navigation.querySelectorAll('li')].map(entryOf);
    return read;
  };
  const filter = (): void => {
    const words = box.value
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    navigation.classList.toggle('searching', words.length > 0);
    const found = entriesNow().filter((entry) => setShown(entry, words));
    for (const group of navigation.querySelectorAll<HTMLElement>('.nav-group')) {
      group.hidden = group.querySelector('li:not([hidden])') === null;
    }
    status.textContent = words.length === 0 ? '' : found.length === 1 ? '1 result' : `${found.length} results`;
  };
  box.addEventListener('input', filter);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const best = entriesNow().find(({ item, name }) => !item.hidden && name.includes(box.value.toLowerCase().trim()));
    (best?.item ?? navigation.querySelector('li:not([hidden])'))?.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const typing = document.activeElement?.matches('input, textarea, select') ?? false;
    if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      box.focus();
    } else if (event.key === 'Escape' && document.activeElement === box) {
      box.value = '';
      filter();
    }
  });
  navigation.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('a')) closePopover();
  });
}

function entryOf(item: HTMLElement): Entry {
  const link = item.querySelector('a');
  const place = link?.hash ? document.getElementById(decodeURIComponent(link.hash.slice(1))) : null;
  const name = (item.textContent ?? '').toLowerCase();
  return { item, name, text: `${name} ${place === null ? '' : wordsOf(place).toLowerCase()}` };
}

/** Without samples and errors, which are the same for every operation. */
function wordsOf(place: HTMLElement): string {
  if (!place.classList.contains('operation')) return place.textContent ?? '';
  const told = place.querySelectorAll('.route, .told > p, .fields dt, .fields dd');
  return [...told].map((one) => one.textContent).join(' ');
}

function setShown({ item, text }: Entry, words: readonly string[]): boolean {
  item.hidden = !words.every((word) => text.includes(word));
  return !item.hidden;
}

/** On a narrow screen the table of contents lies over the page. */
function closePopover(): void {
  const contents = document.getElementById('contents');
  if (contents?.matches(':popover-open')) contents.hidePopover();
}

const KEY = 'harkara-docs-key';
/** Only test keys: requests from the documentation must neither reach a phone nor cost anything. */
const TEST_KEY = /^hk_test_[0-9a-z]{26}_[0-9a-f]{64}$/;

/** Adds a form to each sample that a test key may send; it calls this gateway and shows the answer. */
function addTryForms(): void {
  for (const sample of document.querySelectorAll<HTMLElement>('.sample[data-method]')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy-sample';
    button.textContent = 'Try it';
    button.setAttribute('aria-expanded', 'false');
    let form: HTMLFormElement | undefined;
    button.addEventListener('click', () => {
      form ??= formOf(sample);
      form.hidden = button.getAttribute('aria-expanded') === 'true';
      button.setAttribute('aria-expanded', String(!form.hidden));
      if (!form.hidden) form.querySelector('input')?.focus();
    });
    sample.querySelector('.sample-name')?.append(button);
  }
}

function formOf(sample: HTMLElement): HTMLFormElement {
  const { method = 'GET', path = '', body } = sample.dataset;
  const form = document.createElement('form');
  form.className = 'try';
  const key = field(form, 'Test key', document.createElement('input'));
  key.autocomplete = 'off';
  key.placeholder = 'hk_test_…';
  key.value = sessionStorage.getItem(KEY) ?? '';
  const place = field(form, 'Path', document.createElement('input'));
  place.value = path;
  const content = body === undefined ? undefined : field(form, 'Body', document.createElement('textarea'));
  if (content !== undefined) {
    content.value = body ?? '';
    content.rows = content.value.split('\n').length;
  }
  const send = document.createElement('button');
  send.textContent = 'Send';
  const answer = document.createElement('pre');
  answer.tabIndex = 0;
  answer.setAttribute('role', 'group');
  answer.setAttribute('aria-label', 'Answer');
  answer.setAttribute('aria-live', 'polite');
  answer.hidden = true;
  form.append(send);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const given = key.value.trim();
    send.disabled = true;
    answer.textContent = TEST_KEY.test(given)
      ? await ask(method, place.value, given, content?.value)
      : 'Enter a test key, hk_test_…: the dashboard\nmakes them under API keys.\nA live key is not taken here.';
    answer.hidden = false;
    send.disabled = false;
  });
  sample.append(form, answer);
  return form;
}

function field<Control extends HTMLInputElement | HTMLTextAreaElement>(
  form: HTMLFormElement,
  name: string,
  control: Control,
): Control {
  const label = document.createElement('label');
  label.append(name, control);
  control.spellcheck = false;
  form.append(label);
  return control;
}

async function ask(method: string, path: string, key: string, body: string | undefined): Promise<string> {
  sessionStorage.setItem(KEY, key);
  try {
    const answer = await fetch(new URL(path, location.origin), {
      method,
      credentials: 'omit',
      headers: { Authorization: `Bearer ${key}`, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body }),
    });
    return `HTTP ${answer.status}\n\n${readable(await answer.text())}`;
  } catch {
    return 'There was no answer. Look at the path and at the connection.';
  }
}

function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
