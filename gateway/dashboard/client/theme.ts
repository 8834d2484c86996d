import { applyTheme, storedTheme } from './frame/theme.ts';

// A script of its own in the head: it runs before the first paint, so that a chosen theme never flashes.
applyTheme(storedTheme());
