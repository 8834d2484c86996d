import type { Db } from 'mongodb';
import { CARRIER_DEFAULTS, type CarrierDocument } from '../../shared/carriers/carrier.ts';
import type { EventName } from '../../shared/events/catalogue.ts';
import { createEndpoint } from '../../shared/events/webhooks/endpoint-store.ts';
import { createAccount } from '../../shared/money/accounts/store.ts';
import { topUp } from '../../shared/money/ledger/change.ts';
import { createKey } from '../../shared/people/keys/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import type { SecretBox } from '../../shared/platform/runtime/secret-box.ts';

/** The store of a running product, in which the functions below put customers and a carrier. */
export interface SeedDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly box: SecretBox;
}

export interface SeedAccount {
  readonly name: string;
  readonly credits: number;
  readonly keys: number;
  readonly endpoint: { readonly url: string; readonly events: readonly EventName[] };
}

export interface SeededAccount {
  readonly account: AccountId;
  readonly keys: readonly string[];
  /** `whsec_…` of its endpoint. */
  readonly secret: string;
}

/** Requests a minute. The machine limits the load, not the key. */
const UNLIMITED = 1_000_000_000;

/** An account that may use any sender, with credits, keys with all scopes, and one webhook endpoint. */
export async function seedAccount(deps: SeedDeps, wanted: SeedAccount): Promise<SeededAccount> {
  const { db, clock, box } = deps;
  const { _id: account } = await createAccount(db, clock, {
    name: wanted.name,
    currency: 'INR',
    expiryDate: '2099-12-31',
    senders: 'any',
  });
  if (wanted.credits > 0) await topUp(db, account, wanted.credits, newId('req'));
  const keys = await Promise.all(
    Array.from({ length: wanted.keys }, (_, i) =>
      createKey(db, clock, {
        account,
        name: `${wanted.name} ${i + 1}`,
        scopes: ['send', 'read'],
        perMinute: UNLIMITED,
      }),
    ),
  );
  const { secret } = await createEndpoint(db, clock, box, { account, channel: 'sms', ...wanted.endpoint });
  return { account, keys: keys.map(({ key }) => key), secret };
}

/** A carrier on this machine; the SMPP worker binds to it within seconds. */
export async function seedCarrier(
  { db, clock, box }: SeedDeps,
  port: number,
  overrides: Partial<CarrierDocument> = {},
): Promise<void> {
  const { _id = 'sim' } = overrides;
  await db.collection<CarrierDocument>('carriers').insertOne({
    ...CARRIER_DEFAULTS,
    _id,
    name: 'Simulated Carrier',
    host: '127.0.0.1',
    port,
    systemId: 'harkara',
    password: box.seal('secret', ['carriers', _id, 'password']),
    createdAt: clock.now(),
    ...overrides,
  });
}
