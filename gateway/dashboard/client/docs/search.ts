interface Entry {
  readonly item: HTMLElement;
  readonly name: string;
  /** What the page says of it, in lower case. */
  readonly text: string;
}

/** Filters the contents at the side by what the page says of each entry. `/` leads to the box, Escape empties it. */
export function search(): void {
  const form = document.querySelector<HTMLFormElement>('form.search');
  const box = form?.querySelector('input');
  const status = form?.querySelector('[role="status"]');
  const navigation = form?.parentElement;
  if (!form || !box || !status || !navigation) return;
  form.hidden = false;
  // Reads the whole page: not before somebody searches.
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

/** Not the samples, and not the errors: every operation has the same. */
function wordsOf(place: HTMLElement): string {
  if (!place.classList.contains('operation')) return place.textContent ?? '';
  const told = place.querySelectorAll('.route, .told > p, .fields dt, .fields dd');
  return [...told].map((one) => one.textContent).join(' ');
}

function setShown({ item, text }: Entry, words: readonly string[]): boolean {
  item.hidden = !words.every((word) => text.includes(word));
  return !item.hidden;
}

/** On a narrow screen the contents lie over the page. */
function closePopover(): void {
  const contents = document.getElementById('contents');
  if (contents?.matches(':popover-open')) contents.hidePopover();
}
