import { createHash, randomBytes } from 'node:crypto';
import type { Db, Filter, UpdateFilter } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import { AllPlacesTaken, takePlace } from '../../platform/mongo/places.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { AccountId, EndpointId } from '../../platform/runtime/ids.ts';
import type { SecretBox } from '../../platform/runtime/secret-box.ts';
import type { EventChannel, EventName } from '../catalogue.ts';
import { ENDPOINTS_PER_ACCOUNT, type EndpointDocument, type EndpointHeader, type EndpointOptions } from './endpoint.ts';

/** How long the old secret signs beside the new one after a rotation. */
const OLD_SECRET_MS = 24 * 3_600_000;

export interface NewEndpoint {
  readonly account: AccountId;
  readonly channel: EventChannel;
  /** Checked by the caller with the account's `AddressGuard`. */
  readonly url: string;
  readonly events: readonly EventName[];
  readonly options?: GivenOptions;
  readonly registration?: string;
}

/** A secret header without a value keeps the value that it has. */
export interface GivenHeader {
  readonly name: string;
  readonly value?: string;
  readonly secret: boolean;
}

export interface GivenOptions extends Omit<EndpointOptions, 'headers'> {
  readonly headers?: readonly GivenHeader[];
}

export interface CreatedEndpoint {
  readonly endpoint: EndpointDocument;
  /** `whsec_…`, shown to the account's owner. */
  readonly secret: string;
  /** False when the account already had this url. */
  readonly created: boolean;
}

/**
 * Registers a url. If the account already has it, it keeps id and secret, takes the new events and is active again. The
 * id of a new one derives from account, channel and url, so two simultaneous requests make one endpoint. `id`: from
 * `findEndpointId`, if known. Throws `AllPlacesTaken`.
 */
export async function createEndpoint(
  db: Db,
  clock: Clock,
  box: SecretBox,
  { account, channel, url, events, options = {}, registration }: NewEndpoint,
  id?: EndpointId,
): Promise<CreatedEndpoint> {
  const endpoints = db.collection<EndpointDocument>('endpoints');
  const _id = id ?? (await findEndpointId(db, { account, channel, url }));
  const stored = storedOptions(box, { _id }, options);
  const secret = newSecret();
  const sealed = box.seal(secret, ['endpoints', _id, 'secrets.sealed']);
  const again = () =>
    subscribe(
      db,
      clock,
      _id,
      { status: 'active', ...has(events) },
      { $set: { events: [...events], status: 'active', ...stored }, $unset: HEALED },
    );
  const known = await again();
  if (known !== null) return { endpoint: known, ...secretOf(known, box, sealed) };
  const places = { db, collection: 'endpoints', owner: { account }, most: ENDPOINTS_PER_ACCOUNT };
  try {
    return await takePlace(places, async (place) => {
      const endpoint: EndpointDocument = {
        _id,
        account,
        channel,
        url,
        place,
        events: [...events],
        secrets: [{ sealed }],
        status: 'active',
        ...stored,
        ...(registration === undefined ? {} : { registration }),
        createdAt: clock.now(),
      };
      await endpoints.insertOne(endpoint);
      return { endpoint, secret, created: true };
    });
  } catch (error) {
    // Another request registered the same address meanwhile, perhaps in the last place.
    const made = isDuplicateKey(error) || error instanceof AllPlacesTaken ? await again() : null;
    if (made === null) throw error;
    return { endpoint: made, ...secretOf(made, box, sealed) };
  }
}

/** If the stored secret is `fresh`, this call created the endpoint: the answer to its insert was lost. */
function secretOf({ _id, secrets }: EndpointDocument, box: SecretBox, fresh: string) {
  const [first] = secrets;
  if (first === undefined) throw new Error(`endpoint ${_id} has no secret`);
  return { secret: box.open(first.sealed, ['endpoints', _id, 'secrets.sealed']), created: first.sealed === fresh };
}

/** Oldest first. */
export async function listEndpoints(db: Db, account: AccountId): Promise<EndpointDocument[]> {
  // At most ten, so they are sorted here and need no index.
  const endpoints = await db.collection<EndpointDocument>('endpoints').find({ account }).toArray();
  return endpoints.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

export function findEndpoints(db: Db, ids: readonly EndpointId[]): Promise<EndpointDocument[]> {
  return db
    .collection<EndpointDocument>('endpoints')
    .find({ _id: { $in: [...ids] } })
    .toArray();
}

export async function readRawAccounts(db: Db): Promise<ReadonlySet<AccountId>> {
  const found = await db
    .collection<EndpointDocument>('endpoints')
    .find({ raw: true }, { projection: { account: 1 } })
    .toArray();
  return new Set(found.map(({ account }) => account));
}

export async function findOwnEndpoint(db: Db, account: AccountId, id: string): Promise<EndpointDocument | undefined> {
  const _id = id as EndpointId; // only compared with
  return (await db.collection<EndpointDocument>('endpoints').findOne({ _id, account })) ?? undefined;
}

export async function setEvents(db: Db, clock: Clock, id: EndpointId, events: readonly EventName[]): Promise<void> {
  await subscribe(db, clock, id, has(events), { $set: { events: [...events] } });
}

/** `endpoint`: as it was read, for the values of its secret headers. */
export async function setOptions(
  db: Db,
  box: SecretBox,
  endpoint: Pick<EndpointDocument, '_id' | 'headers'>,
  options: GivenOptions,
): Promise<void> {
  const update = { $set: storedOptions(box, endpoint, options) };
  await db.collection<EndpointDocument>('endpoints').updateOne({ _id: endpoint._id }, update);
}

function storedOptions(
  box: SecretBox,
  { _id, headers: known = [] }: Pick<EndpointDocument, '_id' | 'headers'>,
  { headers, ...options }: GivenOptions,
): EndpointOptions {
  if (headers === undefined) return options;
  const stored = headers.map(({ name, value, secret }): EndpointHeader => {
    if (value !== undefined) return secret ? { name, sealed: box.seal(value, headerPlace(_id)) } : { name, value };
    const kept = keptHeader(known, name);
    if (kept === undefined) throw new Error(`header ${name} has no value`);
    return { ...kept, name };
  });
  return { ...options, headers: stored };
}

/** Header names ignore case. */
export function keptHeader(headers: readonly EndpointHeader[], name: string): EndpointHeader | undefined {
  return headers.find((one) => 'sealed' in one && one.name.toLowerCase() === name.toLowerCase());
}

export function headerPlace(id: EndpointId) {
  return ['endpoints', id, 'headers.sealed'] as const;
}

/** The worker discards its due deliveries. Returns whether it was active until now. */
export async function disableEndpoint(db: Db, id: EndpointId, reason: string): Promise<boolean> {
  const { matchedCount } = await db
    .collection<EndpointDocument>('endpoints')
    .updateOne({ _id: id, status: 'active' }, { $set: { status: 'disabled', disabledReason: reason } });
  return matchedCount === 1;
}

/** Returns whether there is such an endpoint. Discarded deliveries can be replayed. */
export async function enableEndpoint(db: Db, clock: Clock, id: EndpointId): Promise<boolean> {
  const update = { $set: { status: 'active' }, $unset: HEALED } as const;
  return (await subscribe(db, clock, id, { status: 'active' }, update)) !== null;
}

const HEALED = { disabledReason: '', failingSince: '' } as const;

function has(events: readonly EventName[]): Filter<EndpointDocument> {
  return { $and: events.map((event) => ({ events: event })) };
}

/** Updates an endpoint. It counts as subscribed from now on, unless it matches `already`. Null when there is none. */
async function subscribe(
  db: Db,
  clock: Clock,
  _id: EndpointId,
  already: Filter<EndpointDocument>,
  update: UpdateFilter<EndpointDocument>,
): Promise<EndpointDocument | null> {
  const endpoints = db.collection<EndpointDocument>('endpoints');
  const after = { returnDocument: 'after' } as const;
  const fresh = { ...update, $set: { ...update.$set, subscribedSince: clock.now() } };
  return (
    (await endpoints.findOneAndUpdate({ _id, ...already }, update, after)) ??
    (await endpoints.findOneAndUpdate({ _id }, fresh, after))
  );
}

/** The worker discards its due deliveries. The same address, registered again, gets a new secret. */
export async function removeEndpoint(db: Db, id: EndpointId): Promise<boolean> {
  const { deletedCount } = await db.collection<EndpointDocument>('endpoints').deleteOne({ _id: id });
  return deletedCount === 1;
}

/** The signature header has one entry for each secret. */
const SECRETS_MAX = 10;

/**
 * The new secret signs from now on; the old one signs too for 24 hours, so that a receiver can switch at any time
 * (docs/specification/decisions.md, Webhooks). Two simultaneous calls add two. Undefined when there is no such
 * endpoint.
 */
export async function rotateSecret(
  db: Db,
  clock: Clock,
  box: SecretBox,
  { secret, request }: { readonly secret: string; readonly request?: string },
  id: EndpointId,
): Promise<EndpointDocument | undefined> {
  const endpoints = db.collection<EndpointDocument>('endpoints');
  const fresh = {
    sealed: box.seal(secret, ['endpoints', id, 'secrets.sealed']),
    ...(request === undefined ? {} : { request }),
  };
  for (;;) {
    const endpoint = await endpoints.findOne({ _id: id }, { projection: { secrets: 1 } });
    if (endpoint === null) return undefined;
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + OLD_SECRET_MS);
    const old = endpoint.secrets
      .filter((one) => one.expiresAt === undefined || one.expiresAt > now)
      .map((one) => ({ ...one, expiresAt: one.expiresAt ?? expiresAt }));
    const secrets = [fresh, ...old].slice(0, SECRETS_MAX);
    const rotated = await endpoints.findOneAndUpdate(
      { _id: id, 'secrets.0.sealed': endpoint.secrets[0]?.sealed ?? '' },
      { $set: { secrets } },
      { returnDocument: 'after' },
    );
    if (rotated !== null) return rotated;
  }
}

/** Since when every post fails; undefined: one succeeded. Only by the worker that holds the endpoint. */
export async function noteHealth(db: Db, id: EndpointId, failingSince: Date | undefined): Promise<void> {
  const endpoints = db.collection<EndpointDocument>('endpoints');
  if (failingSince === undefined) await endpoints.updateOne({ _id: id }, { $unset: { failingSince: '' } });
  // Keep the first failure: a worker that has not read it yet must not overwrite it.
  else await endpoints.updateOne({ _id: id, failingSince: { $exists: false } }, { $set: { failingSince } });
}

/**
 * The id of the endpoint with this address, however it is written (`https://x.example` and `https://x.example/` are
 * one), or else of a new one. Earlier versions made ids of what was typed: stored ones stay.
 */
export async function findEndpointId(
  db: Db,
  { account, channel, url }: Pick<NewEndpoint, 'account' | 'channel' | 'url'>,
): Promise<EndpointId> {
  const { href } = new URL(url);
  const all = await listEndpoints(db, account);
  const same = all.filter((one) => one.channel === channel && new URL(one.url).href === href);
  const known = same.find((one) => one.url === url) ?? same[0];
  return known?._id ?? endpointId(account, channel, href);
}

/** One url may have an endpoint per channel. Ids of SMS endpoints name no channel: they are older than channels. */
function endpointId(account: AccountId, channel: EventChannel, url: string): EndpointId {
  const named = channel === 'sms' ? `${account} ${url}` : `${account} ${channel} ${url}`;
  return `whk_${createHash('sha256').update(named).digest('hex').slice(0, 26)}`;
}

export const SECRET_PREFIX = 'whsec_';
/** The standard allows 24 to 64. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}
