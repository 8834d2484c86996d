import { Badge } from '../../parts/badge.tsx';
import { exactNow } from '../../parts/now.ts';
import { exactTime } from '../../parts/time.tsx';
import type { Customer } from './customer.ts';

const MINUTE_MS = 60_000;

/** How long one may still write freely. */
export function SessionBadge({ customer: { session_until: until } }: { readonly customer: Customer }) {
  const left = until === null ? 0 : new Date(until).getTime() - exactNow();
  if (until === null || left <= 0) return <Badge>Closed: templates only</Badge>;
  return (
    <span title={`Until ${exactTime(until)}`}>
      <Badge tone={left < 60 * MINUTE_MS ? 'warn' : 'good'}>Open for {inWords(left)}</Badge>
    </span>
  );
}

/** Whether the session is open by the clock of this page. */
export function isOpen({ session_until: until }: Customer): boolean {
  return until !== null && new Date(until).getTime() > exactNow();
}

function inWords(ms: number): string {
  const minutes = Math.max(1, Math.floor(ms / MINUTE_MS));
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
