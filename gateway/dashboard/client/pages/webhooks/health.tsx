import { Badge } from '../../parts/badge.tsx';
import { Time } from '../../parts/time.tsx';
import type { Webhook } from './webhook.ts';

/** Whether posts arrive, in words. */
export function Health({ of }: { readonly of: Webhook }) {
  if (of.state === 'disabled') return <Badge>Disabled</Badge>;
  if (of.failing_since === null) return <Badge tone="good">Active</Badge>;
  return (
    <>
      <Badge tone="bad">Failing</Badge> since <Time at={of.failing_since} />
      {of.last_failure && <span class="soft"> {of.last_failure.reason}</span>}
    </>
  );
}
