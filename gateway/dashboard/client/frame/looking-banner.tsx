import { useLocation } from 'preact-iso/router';
import { looking } from '../api/looking.ts';
import { lookAt } from '../api/session.ts';
import { Button } from '../parts/button.tsx';

/** Whose account an operator is in, on each of its pages. */
export function LookingBanner() {
  const { route } = useLocation();
  const account = looking.value;
  if (account === undefined) return null;
  const leave = () => {
    lookAt(undefined);
    route(`/dashboard/admin/accounts/${account.account_id}`);
  };
  return (
    <aside class="looking" aria-label="Account that you look at">
      <p>
        You are in the account <strong>{account.name}</strong> and see what its users see.{' '}
        <span class="soft">Read only. Codes in texts are masked. What you open stands in its audit.</span>
      </p>
      <Button onClick={leave}>Leave account</Button>
    </aside>
  );
}
