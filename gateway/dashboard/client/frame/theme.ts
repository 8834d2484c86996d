export type Theme = 'system' | 'light' | 'dark';

const KEY = 'theme';

/** The only thing that the dashboard keeps in the browser after the tab is closed. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system'; // Storage is disabled.
  }
}

export function storeTheme(theme: Theme): void {
  try {
    if (theme === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Without storage the theme lasts until the page is closed.
  }
  applyTheme(theme);
}

function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

// Built as its own script in each page's head: it runs before the first paint, so a chosen theme never flashes.
applyTheme(storedTheme());
