import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { createCta } from '../../gateway/endpoints/sms/ctas/cta-store.ts';
import { createEndpoint } from '../../shared/events/webhooks/endpoint-store.ts';
import type { KeyScope } from '../../shared/people/keys/key.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { TEST_BOX } from './chatapp.ts';
import { signedIn } from './signed-in.ts';

const EVERYTHING: readonly KeyScope[] = ['send', 'read', 'otp', 'manage'];

/** An all-scopes key, and one thing of the account for each id in documented paths. */
export async function makeOwnThings(db: Db, account: AccountId) {
  const caller = await createKey(db, systemClock, { account, name: 'caller', scopes: EVERYTHING });
  const key = await createKey(db, systemClock, { account, name: 'thing', scopes: ['send'] });
  const url = 'https://example.com/thing';
  const { endpoint } = await createEndpoint(db, systemClock, TEST_BOX, {
    ...{ account, url },
    channel: 'sms',
    events: ['message.sent'],
  });
  const cta = await createCta(
    db,
    systemClock,
    { account, requested: true },
    { kind: 'url', value: `${randomUUID()}.in` },
  );
  const { user, session } = await signedIn(db, 'viewer', account);
  const ids: Readonly<Record<string, string>> = {
    ...{ key_id: key.id, webhook_id: endpoint._id },
    ...{ user_id: user._id, session_id: session._id, cta_id: cta._id },
    month: new Date().toISOString().slice(0, 7),
  };
  return { key: caller.key, ids };
}

export function pathOf(path: string, ids: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (place, name: string) => ids[name] ?? place);
}
