import { useId, useState } from 'preact/hooks';
import { session, signOut } from '../api/session.ts';
import { Icon } from '../parts/icon.tsx';
import { toastProblem } from '../parts/toast.tsx';
import { initialOf } from './initial.ts';
import { storedTheme, storeTheme, type Theme } from './theme.ts';

const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const satisfies readonly (readonly [Theme, string])[];

/** Who is signed in, the theme, and the way out. */
export function UserMenu() {
  const id = useId();
  const who = session.value;
  if (!who) return null;
  const called = who.user.name ?? who.user.username;
  return (
    <div class="user-menu">
      <button type="button" popoverTarget={id} class="who">
        <span class="face" aria-hidden="true">
          {initialOf(called)}
        </span>
        <span class="who-names">
          <strong>{called}</strong>
          <span>{who.account?.name ?? 'Operator'}</span>
        </span>
      </button>
      <div id={id} popover="auto" class="popover">
        <p class="small soft">
          {who.user.username}
          <br />
          {who.user.role}
        </p>
        <ThemeSwitch />
        <a href="/dashboard/profile">
          <Icon name="user" />
          Your profile
        </a>
        <a href="/docs">
          <Icon name="link" />
          API reference
        </a>
        <button type="button" onClick={leave}>
          <Icon name="out" />
          Sign out
        </button>
      </div>
    </div>
  );
}

function leave(): void {
  signOut().catch(toastProblem);
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme());
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class="hidden">Theme</legend>
      {THEMES.map(([value, label]) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={theme === value}
            onChange={() => {
              setTheme(value);
              storeTheme(value);
            }}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
