import { useId } from 'preact/hooks';
import { testing } from '../api/looking.ts';
import { hasAccount, showTests } from '../api/session.ts';
import { Button } from '../parts/button.tsx';

const MODES = [
  [false, 'Live'],
  [true, 'Test'],
] as const;

/** What pages of messages show, and what is sent from them. */
export function ModeSwitch() {
  const name = useId();
  if (!hasAccount()) return null;
  return (
    <fieldset class="segments mode">
      <legend class="hidden">What is shown</legend>
      {MODES.map(([isTest, label]) => (
        <label key={label}>
          <input type="radio" name={name} checked={testing.value === isTest} onChange={() => showTests(isTest)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

/** On each page in test mode. */
export function TestBanner() {
  if (!testing.value || !hasAccount()) return null;
  return (
    <aside class="looking" aria-label="Test mode">
      <p>
        You see <strong>tests</strong>, and what you send is a test: it leaves to nobody and costs nothing.{' '}
        <span class="soft">
          The last digits of the recipient decide what becomes of it: <a href="/docs">see the docs</a>. Settings are
          those of the account.
        </span>
      </p>
      <Button onClick={() => showTests(false)}>Show live</Button>
    </aside>
  );
}
