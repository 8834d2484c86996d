import { applyTheme, storedTheme } from '../frame/theme.ts';
import { addCopyButtons } from './copy.ts';
import { chooseLanguages } from './languages.ts';
import { search } from './search.ts';
import { addTryForms } from './try.ts';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/frame.css';
import '../styles/docs.css';

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
