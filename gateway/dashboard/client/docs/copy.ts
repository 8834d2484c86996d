import { toClipboard } from '../parts/clipboard.ts';

const SHOWN_MS = 2_000;

/** A button at every sample. It copies what is shown of it. */
export function addCopyButtons(): void {
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
