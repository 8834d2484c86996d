import { randomBytes } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import { type BusinessNumber, isBusinessNumber } from '../../messages/document/chat-message.ts';
import { isDuplicateKey } from '../../platform/mongo/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { type AccountId, type CallbackId, newCallbackId } from '../../platform/runtime/ids.ts';
import type { SecretBox } from '../../platform/runtime/secret-box.ts';
import {
  BadProvider,
  byRank,
  checkProvider,
  PROVIDER_DEFAULTS,
  type ProviderDocument,
  type ProviderDuty,
  type ProviderSettings,
  type ProviderTrouble,
  providerProblems,
  type VolumeTier,
} from './provider.ts';

export interface ProviderChange extends Partial<ProviderSettings> {
  /** Replaces a lost verify token. The provider needs it only when its webhook is set up. */
  readonly newVerifyToken?: boolean;
}

/** The access token must be given again, because it would be sent to another address. */
export class TokenNeeded extends Error {
  readonly code = 'token_needed';
}

/** The number, or its id at the provider, belongs to this account, which may be another one. */
export class NumberTaken extends Error {
  readonly code = 'number_taken';
  readonly by: 'number' | 'phoneNumberId';
  readonly account: AccountId;

  constructor(by: NumberTaken['by'], account: AccountId) {
    super(`the ${by} belongs to ${account}`);
    this.by = by;
    this.account = account;
  }
}

export class TooManyNumbers extends Error {
  readonly code = 'too_many_numbers';
}

export interface SetProvider {
  readonly provider: ProviderDocument;
  readonly created: boolean;
  /** In clear. Present only when it is new. */
  readonly verifyToken?: string;
}

const VERIFY_TOKEN_BYTES = 24;
/** More than any account uses. All are read together, and named in refusals. */
export const NUMBERS_MAX = 50;

/**
 * Gives an account a number on the chat-app channel, or changes settings of one that it has. Absent settings stay; the
 * callback address never changes; a paused or stopped number stays so (`resumeProvider`). Gateways and workers see it
 * within seconds. Another base URL needs the token again. The insert decides who gets a number, by its `_id` and the
 * unique index of `phoneNumberId`. Throws `BadProvider` with all problems, `TokenNeeded`, `NumberTaken` or
 * `TooManyNumbers`.
 */
export async function setProvider(
  db: Db,
  clock: Clock,
  box: SecretBox,
  account: AccountId,
  number: string,
  { newVerifyToken = false, ...change }: ProviderChange,
): Promise<SetProvider> {
  if (!isBusinessNumber(number)) {
    const others = providerProblems({ ...PROVIDER_DEFAULTS, ...change });
    throw new BadProvider(['number: 8 to 15 digits, country code first.', ...others]);
  }
  const stored = await findProvider(db, number);
  if (stored === undefined) return addProvider(db, clock, box, account, number, change);
  if (stored.account !== account) throw new NumberTaken('number', stored.account);
  checkProvider({ ...stored, token: 'kept', appSecret: 'kept', ...change });
  if (leadsTokenAway(stored, change)) throw new TokenNeeded('another base URL needs the access token');
  const verifyToken = newVerifyToken ? makeVerifyToken() : undefined;
  const provider = await orTaken(db, change, () =>
    providers(db).findOneAndUpdate(
      // Somebody may have changed the base URL and the token meanwhile: then this change is judged again.
      { _id: number, account, token: stored.token },
      {
        $set: {
          ...change,
          ...(change.token === undefined ? {} : { token: box.seal(change.token, ['providers', number, 'token']) }),
          ...(change.appSecret === undefined
            ? {}
            : { appSecret: box.seal(change.appSecret, ['providers', number, 'appSecret']) }),
          ...(verifyToken === undefined
            ? {}
            : { verifyToken: box.seal(verifyToken, ['providers', number, 'verifyToken']) }),
          // Keeps the update from being empty, which MongoDB refuses.
          callback: stored.callback,
        },
        // The stored troubles came from the old settings.
        $unset: { troubles: '' },
      },
      { returnDocument: 'after' },
    ),
  );
  if (provider === null) return setProvider(db, clock, box, account, number, { newVerifyToken, ...change });
  return { provider, created: false, ...(verifyToken === undefined ? {} : { verifyToken }) };
}

/** Whether the stored token would go to another address (docs/decisions/0028). */
function leadsTokenAway({ baseUrl }: Pick<ProviderDocument, 'baseUrl'>, change: ProviderChange): boolean {
  return change.token === undefined && change.baseUrl !== undefined && change.baseUrl !== baseUrl;
}

async function addProvider(
  db: Db,
  clock: Clock,
  box: SecretBox,
  account: AccountId,
  number: BusinessNumber,
  change: Partial<ProviderSettings>,
): Promise<SetProvider> {
  const settings = { ...PROVIDER_DEFAULTS, ...change };
  checkProvider(settings);
  if ((await providers(db).countDocuments({ account }, { limit: NUMBERS_MAX })) === NUMBERS_MAX) {
    throw new TooManyNumbers(`an account has at most ${NUMBERS_MAX} numbers`);
  }
  const verifyToken = makeVerifyToken();
  const provider: ProviderDocument = {
    ...settings,
    _id: number,
    account,
    status: PROVIDER_DEFAULTS.status,
    token: box.seal(settings.token, ['providers', number, 'token']),
    appSecret: box.seal(settings.appSecret, ['providers', number, 'appSecret']),
    verifyToken: box.seal(verifyToken, ['providers', number, 'verifyToken']),
    callback: newCallbackId(),
    createdAt: clock.now(),
  };
  const inserted = await orTaken(db, settings, async () => {
    try {
      await providers(db).insertOne(provider);
      return true;
    } catch (error) {
      // Another call has just added the number: this one is judged by that.
      if (isDuplicateKey(error) && (await findProvider(db, number)) !== undefined) return false;
      throw error;
    }
  });
  if (!inserted) return setProvider(db, clock, box, account, number, change);
  return { provider, created: true, verifyToken };
}

/** Throws `NumberTaken` when another number has the `phoneNumberId`. */
async function orTaken<T>(db: Db, { phoneNumberId }: Partial<ProviderSettings>, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const holder =
      isDuplicateKey(error) && phoneNumberId !== undefined ? await providers(db).findOne({ phoneNumberId }) : null;
    throw holder === null ? error : new NumberTaken('phoneNumberId', holder.account);
  }
}

export async function findProvider(db: Db, number: BusinessNumber): Promise<ProviderDocument | undefined> {
  return (await providers(db).findOne({ _id: number })) ?? undefined;
}

/** Grouped by account, the default number first. */
export async function providersOf(db: Db, accounts: readonly AccountId[]): Promise<readonly ProviderDocument[]> {
  const found = await providers(db)
    .find({ account: { $in: [...accounts] } })
    .toArray();
  return found.sort((a, b) => (a.account === b.account ? byRank(a, b) : a.account < b.account ? -1 : 1));
}

/** In no order; unknown addresses are left out. */
export async function providersByCallback(
  db: Db,
  callbacks: readonly CallbackId[],
): Promise<readonly ProviderDocument[]> {
  return providers(db)
    .find({ callback: { $in: callbacks } })
    .toArray();
}

/** Those whose number or business account has one of these ids, in no order. */
export async function providersByGraphId(db: Db, ids: readonly string[]): Promise<readonly ProviderDocument[]> {
  return providers(db)
    .find({ $or: [{ phoneNumberId: { $in: ids } }, { businessId: { $in: ids } }] })
    .toArray();
}

/** Grouped by account, the default number first. */
export async function listProviders(db: Db): Promise<readonly ProviderDocument[]> {
  const found = await providers(db).find().toArray();
  return found.sort((a, b) => (a.account === b.account ? byRank(a, b) : a.account < b.account ? -1 : 1));
}

export async function listProviderPage(
  db: Db,
  account: AccountId | undefined,
  after: BusinessNumber | undefined,
  limit: number,
): Promise<readonly ProviderDocument[]> {
  const place = after === undefined ? {} : { _id: { $gt: after } };
  return providers(db)
    .find({ ...place, ...(account === undefined ? {} : { account }) })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

/** Sends that name no number go from this one from now on. One update decides. False when there is no such number. */
export async function makeDefault(db: Db, number: BusinessNumber, now: Date): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne({ _id: number }, { $set: { defaultAt: now } });
  return matchedCount === 1;
}

/** Sends are still accepted and wait; customers' messages come in. False: no such number. Idempotent. */
export async function pauseProvider(db: Db, number: BusinessNumber): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne(
    { _id: number },
    { $set: { status: 'paused' }, $unset: { stoppedReason: '', probe: '', trial: '' } },
  );
  return matchedCount === 1;
}

/**
 * Stops a number because the provider does not allow token, number or business account. Nothing leaves from it, and
 * sends from it are refused until `resumeProvider`, or until `probe` finds the cause gone. True if it was running until
 * now, so that only one of many processes with the same news raises the alert.
 */
export async function stopProvider(
  db: Db,
  number: BusinessNumber,
  reason: string,
  probe?: ProviderDocument['probe'],
): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne(
    { _id: number, stoppedReason: { $exists: false } },
    { $set: { status: 'paused', stoppedReason: reason, ...(probe && { probe }) }, $unset: { trial: '' } },
  );
  return matchedCount === 1;
}

export async function putOffProbe(
  db: Db,
  number: BusinessNumber,
  probe: NonNullable<ProviderDocument['probe']>,
): Promise<void> {
  await providers(db).updateOne({ _id: number, probe: { $exists: true } }, { $set: { probe } });
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

/** A message was taken, so the cause is gone. */
export async function endTrial(db: Db, number: BusinessNumber): Promise<void> {
  await providers(db).updateOne({ _id: number }, { $unset: { trial: '' } });
}

/** Undefined: it works again. Only operators read it. */
export async function noteTrouble(
  db: Db,
  number: BusinessNumber,
  duty: ProviderDuty,
  trouble: ProviderTrouble | undefined,
): Promise<void> {
  const field = `troubles.${duty}` as const;
  if (trouble === undefined) {
    await providers(db).updateOne({ _id: number, [field]: { $exists: true } }, { $unset: { [field]: '' } });
  } else await providers(db).updateOne({ _id: number }, { $set: { [field]: trouble } });
}

export async function noteNotice(
  db: Db,
  numbers: readonly BusinessNumber[],
  notice: NonNullable<ProviderDocument['notice']>,
): Promise<void> {
  await providers(db).updateMany({ _id: { $in: [...numbers] } }, { $set: { notice } });
}

/** Far more than there are markets and categories with tiers. */
const TIERS_MAX = 200;

/** Replaces the earlier tier of this market and category. */
export async function noteTier(db: Db, numbers: readonly BusinessNumber[], tier: VolumeTier): Promise<void> {
  const { category, region } = tier;
  await providers(db).updateMany({ _id: { $in: [...numbers] } }, { $pull: { tiers: { category, region } } });
  await providers(db).updateMany(
    { _id: { $in: [...numbers] } },
    { $push: { tiers: { $each: [tier], $slice: -TIERS_MAX } } },
  );
}

/**
 * Takes a number from this account. The provider's posts for it are refused from now on; what waits to leave from it is
 * refused and given back within seconds (workers/chatapp/claim.ts). Idempotent.
 */
export async function removeProvider(db: Db, number: BusinessNumber, account: AccountId): Promise<void> {
  await providers(db).deleteOne({ _id: number, account });
}

/** Idempotent. */
export async function removeProvidersOf(db: Db, account: AccountId): Promise<void> {
  await providers(db).deleteMany({ account });
}

/** Ends `pauseProvider` or `stopProvider`. False when there is no such number. Idempotent. */
export async function resumeProvider(db: Db, number: BusinessNumber): Promise<boolean> {
  const { matchedCount } = await providers(db).updateOne(
    { _id: number },
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
