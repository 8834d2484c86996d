import { randomBytes } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type AccountId, type CallbackId, newCallbackId } from '../../platform/runtime/ids.ts';
import type { SecretBox } from '../../platform/runtime/secret-box.ts';
import {
  PROVIDER_DEFAULTS,
  type ProviderDocument,
  type ProviderDuty,
  type ProviderTrouble,
  type VolumeTier,
} from './provider.ts';
import { checkProvider, type ProviderSettings } from './provider-form.ts';

export interface ProviderChange extends Partial<ProviderSettings> {
  /** Makes a new verify token, to replace a lost one. The provider needs it only when its webhook is set up. */
  readonly newVerifyToken?: boolean;
}

/** The access token must be given again, because it would be sent to another address. */
export class TokenNeeded extends Error {
  readonly code = 'token_needed';
}

export interface SetProvider {
  readonly provider: ProviderDocument;
  /** False when the account had a provider before. */
  readonly created: boolean;
  /** The token in clear. Present only when it is new. */
  readonly verifyToken?: string;
}

const VERIFY_TOKEN_BYTES = 24;

/**
 * Gives an account its number on the chat-app channel, or changes settings of its existing one. Settings that are absent stay
 * unchanged; the callback address never changes. A paused or stopped provider stays so (`resumeProvider`). Gateways and workers
 * see it within seconds. The token that is stored goes to no other base URL. Throws `BadProvider` with everything that is wrong or
 * missing, or `TokenNeeded`.
 */
export async function setProvider(
  db: Db,
  clock: Clock,
  box: SecretBox,
  account: AccountId,
  { newVerifyToken = false, ...change }: ProviderChange,
): Promise<SetProvider> {
  const stored = await findProvider(db, account);
  if (stored === undefined) return addProvider(db, clock, box, account, change);
  checkProvider({ ...stored, token: 'kept', appSecret: 'kept', ...change });
  if (leadsTokenAway(stored, change)) throw new TokenNeeded('another base URL needs the access token');
  const verifyToken = newVerifyToken ? makeVerifyToken() : undefined;
  const provider = await providers(db).findOneAndUpdate(
    // Another token may have come with another base URL meanwhile: then this change is judged again.
    { _id: account, token: stored.token },
    {
      $set: {
        ...change,
        ...(change.token === undefined ? {} : { token: box.seal(change.token, ['providers', account, 'token']) }),
        ...(change.appSecret === undefined
          ? {}
          : { appSecret: box.seal(change.appSecret, ['providers', account, 'appSecret']) }),
        ...(verifyToken === undefined
          ? {}
          : { verifyToken: box.seal(verifyToken, ['providers', account, 'verifyToken']) }),
        // Keeps the update from being empty, which MongoDB refuses.
        callback: stored.callback,
      },
      // The stored troubles came from the old settings, so they are removed.
      $unset: { troubles: '' },
    },
    { returnDocument: 'after' },
  );
  if (provider === null) return setProvider(db, clock, box, account, { newVerifyToken, ...change });
  return { provider, created: false, ...(verifyToken === undefined ? {} : { verifyToken }) };
}

/** Whether a change would send the stored token to another address than before (docs/decisions/0028). */
function leadsTokenAway({ baseUrl }: Pick<ProviderDocument, 'baseUrl'>, change: ProviderChange): boolean {
  return change.token === undefined && change.baseUrl !== undefined && change.baseUrl !== baseUrl;
}

async function addProvider(
  db: Db,
  clock: Clock,
  box: SecretBox,
  account: AccountId,
  change: Partial<ProviderSettings>,
): Promise<SetProvider> {
  const settings = { ...PROVIDER_DEFAULTS, ...change };
  checkProvider(settings);
  const verifyToken = makeVerifyToken();
  const provider: ProviderDocument = {
    ...settings,
    _id: account,
    status: PROVIDER_DEFAULTS.status,
    token: box.seal(settings.token, ['providers', account, 'token']),
    appSecret: box.seal(settings.appSecret, ['providers', account, 'appSecret']),
    verifyToken: box.seal(verifyToken, ['providers', account, 'verifyToken']),
    callback: newCallbackId(),
    createdAt: clock.now(),
  };
  try {
    await providers(db).insertOne(provider);
  } catch (error) {
    // Another call has created a provider at the same moment. That one is changed instead.
    if (isDuplicateKey(error)) return setProvider(db, clock, box, account, change);
    throw error;
  }
  return { provider, created: true, verifyToken };
}

export async function findProvider(db: Db, account: AccountId): Promise<ProviderDocument | undefined> {
  return (await providers(db).findOne({ _id: account })) ?? undefined;
}

/** The providers of these callback addresses, in no order; unknown addresses are left out. */
export async function providersByCallback(
  db: Db,
  callbacks: readonly CallbackId[],
): Promise<readonly ProviderDocument[]> {
  return providers(db)
    .find({ callback: { $in: callbacks } })
    .toArray();
}

/** The providers whose number or business account has one of these ids, in no order. */
export async function providersByGraphId(db: Db, ids: readonly string[]): Promise<readonly ProviderDocument[]> {
  return providers(db)
    .find({ $or: [{ phoneNumberId: { $in: ids } }, { businessId: { $in: ids } }] })
    .toArray();
}

/** All of them, by account. */
export async function listProviders(db: Db): Promise<readonly ProviderDocument[]> {
  return providers(db).find().sort({ _id: 1 }).toArray();
}

/** Some of them, by account, behind `after`. */
export async function listProviderPage(
  db: Db,
  after: AccountId | undefined,
  limit: number,
): Promise<readonly ProviderDocument[]> {
  const place = after === undefined ? {} : { _id: { $gt: after } };
  return providers(db).find(place).sort({ _id: 1 }).limit(limit).toArray();
}

/**
 * Pauses sending: sends are still accepted and wait. Customers' messages still come in. False when there is no provider.
 * Idempotent.
 */
export async function pauseProvider(db: Db, account: AccountId): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne(
    { _id: account },
    { $set: { status: 'paused' }, $unset: { stoppedReason: '', probe: '', trial: '' } },
  );
  return matchedCount === 1;
}

/**
 * Stops the channel because the provider does not allow token, number or account: nothing leaves, and sends are refused until
 * `resumeProvider`, or until `probe` finds that the cause is gone. Returns whether it was running until now, so that only one of many
 * processes with the same news raises the alert.
 */
export async function stopProvider(
  db: Db,
  account: AccountId,
  reason: string,
  probe?: ProviderDocument['probe'],
): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne(
    { _id: account, stoppedReason: { $exists: false } },
    { $set: { status: 'paused', stoppedReason: reason, ...(probe && { probe }) }, $unset: { trial: '' } },
  );
  return matchedCount === 1;
}

/** The cause was asked about and is not gone. */
export async function putOffProbe(
  db: Db,
  account: AccountId,
  probe: NonNullable<ProviderDocument['probe']>,
): Promise<void> {
  await providers(db).updateOne({ _id: account, probe: { $exists: true } }, { $set: { probe } });
}

/** Starts a stopped channel again with one message at a time, until one is taken (`endTrial`). Idempotent. */
export async function tryProvider(db: Db, { _id, stoppedReason, probe }: ProviderDocument): Promise<void> {
  if (stoppedReason === undefined || probe === undefined) return;
  await providers(db).updateOne(
    { _id, stoppedReason },
    {
      $set: { status: 'active', trial: { reason: stoppedReason, tries: probe.tries } },
      $unset: { stoppedReason: '', probe: '' },
    },
  );
}

/** A message was taken: the cause is gone. */
export async function endTrial(db: Db, account: AccountId): Promise<void> {
  await providers(db).updateOne({ _id: account }, { $unset: { trial: '' } });
}

/**
 * Records what does not work. Undefined records that it works again. Only operators read it; no gateway and no other worker does.
 */
export async function noteTrouble(
  db: Db,
  account: AccountId,
  duty: ProviderDuty,
  trouble: ProviderTrouble | undefined,
): Promise<void> {
  const field = `troubles.${duty}` as const;
  if (trouble === undefined) {
    await providers(db).updateOne({ _id: account, [field]: { $exists: true } }, { $unset: { [field]: '' } });
  } else await providers(db).updateOne({ _id: account }, { $set: { [field]: trouble } });
}

/** Keeps what the provider told last of the business account or its number. */
export async function noteNotice(
  db: Db,
  account: AccountId,
  notice: NonNullable<ProviderDocument['notice']>,
): Promise<void> {
  await providers(db).updateOne({ _id: account }, { $set: { notice } });
}

/** Far more than there are markets and categories with tiers. */
const TIERS_MAX = 200;

/** Keeps the tier that was reached, in place of the earlier one of this market and category. */
export async function noteTier(db: Db, account: AccountId, tier: VolumeTier): Promise<void> {
  const { category, region } = tier;
  await providers(db).updateOne({ _id: account }, { $pull: { tiers: { category, region } } });
  await providers(db).updateOne({ _id: account }, { $push: { tiers: { $each: [tier], $slice: -TIERS_MAX } } });
}

/** Takes the chat-app number from an account. What the provider posts for it from now on is refused. Idempotent. */
export async function removeProvider(db: Db, account: AccountId): Promise<void> {
  await providers(db).deleteOne({ _id: account });
}

/** Ends `pauseProvider` or `stopProvider`. False when there is no provider. Idempotent. */
export async function resumeProvider(db: Db, account: AccountId): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne(
    { _id: account },
    { $set: { status: 'active' }, $unset: { stoppedReason: '', probe: '', trial: '' } },
  );
  return matchedCount === 1;
}

function makeVerifyToken(): string {
  return randomBytes(VERIFY_TOKEN_BYTES).toString('base64url');
}

function providers(db: Db): Collection<ProviderDocument> {
  return db.collection('providers');
}
