export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';

/** What this browser's user chose. It is the only thing that the dashboard keeps in the browser. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system'; // Storage is switched off.
  }
}

export function storeTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  applyTheme(theme);
}

function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

// In the head of each page it is a script of its own that runs before the first paint, so that a chosen theme never flashes.
applyTheme(storedTheme());
