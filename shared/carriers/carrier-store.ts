import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo/errors.ts';
import type { Clock } from '../platform/runtime/clock.ts';
import { newCallbackId } from '../platform/runtime/ids.ts';
import type { SecretBox } from '../platform/runtime/secret-box.ts';
import { CARRIER_DEFAULTS, type CarrierDocument } from './carrier.ts';
import { type CarrierInput, checkCarrier } from './carrier-form.ts';
import { changedLeads, openedTrust, sealedSecrets } from './carrier-secrets.ts';
import { GROUP_NAMES, type StoredGroups } from './settings/table.ts';

export class CarrierExists extends Error {
  readonly code = 'carrier_exists';
}

class NoSuchCarrier extends Error {
  readonly code = 'no_such_carrier';
}

/** The password must be given again, because the changed `settings` would send it elsewhere. */
export class PasswordNeeded extends Error {
  readonly code = 'password_needed';
  readonly settings: readonly string[];

  constructor(settings: readonly string[]) {
    super(`a change of ${settings.join(', ')} needs the password`);
    this.settings = settings;
  }
}

export type NewCarrier = Pick<CarrierInput, '_id' | 'name' | 'host' | 'port' | 'systemId' | 'password'> &
  Partial<CarrierInput>;

/** Stores a new carrier. Workers notice it within seconds. Throws `BadCarrier` or `CarrierExists`. */
export async function createCarrier(db: Db, clock: Clock, box: SecretBox, input: NewCarrier): Promise<CarrierDocument> {
  const carrier: CarrierInput = { ...CARRIER_DEFAULTS, ...input };
  checkCarrier(carrier);
  const document = {
    ...{ ...carrier, ...sealedSecrets(box, input._id, carrier), createdAt: clock.now() },
    ...withCallback(carrier),
  };
  try {
    await carriers(db).insertOne(document);
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    throw new CarrierExists(`carrier "${input._id}" exists already`, { cause: error });
  }
  return document;
}

/**
 * Changes settings; the carrier's binds end gracefully and start again. A change of where the password goes needs the
 * password with it. Throws `BadCarrier`, `PasswordNeeded` or `NoSuchCarrier`.
 */
export async function updateCarrier(
  db: Db,
  box: SecretBox,
  id: string,
  changes: Partial<Omit<CarrierInput, '_id'>>,
): Promise<CarrierDocument> {
  for (;;) {
    const stored = await carriers(db).findOne({ _id: id });
    if (stored === null) throw new NoSuchCarrier(`there is no carrier "${id}"`);
    const merged = checkedChanges(box, stored, changes);
    const updated = await carriers(db).findOneAndUpdate(
      // Somebody may have changed the host and the password meanwhile: then this change is judged again.
      { _id: id, password: stored.password },
      { $set: { ...merged, ...sealedSecrets(box, id, merged), ...withCallback({ ...stored, ...merged }) } },
      { returnDocument: 'after' },
    );
    if (updated !== null) return updated;
  }
}

/** The changed fields, secrets in clear. Throws `BadCarrier` or `PasswordNeeded`. */
export function checkedChanges(
  box: SecretBox,
  stored: CarrierDocument,
  changes: Partial<Omit<CarrierInput, '_id'>>,
): Partial<Omit<CarrierInput, '_id'>> {
  const before = { ...stored, ...openedTrust(box, stored) };
  const merged = { ...changes, ...mergedGroups(before, changes) };
  checkCarrier({ ...before, ...merged, password: changes.password ?? '' }, changes);
  const leads = changes.password === undefined ? changedLeads(stored, changes) : [];
  if (leads.length > 0) throw new PasswordNeeded(leads);
  return merged;
}

/** A carrier that becomes an HTTP carrier gets an address for its receipts, and keeps it for good. */
function withCallback({ kind, callback }: Pick<CarrierInput, 'kind' | 'callback'>): Pick<CarrierDocument, 'callback'> {
  return kind === 'http' && callback === undefined ? { callback: newCallbackId() } : {};
}

/** A change may name only some settings of a group. */
function mergedGroups(stored: StoredGroups, changes: StoredGroups): StoredGroups {
  const names = GROUP_NAMES.filter((name) => changes[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, { ...stored[name], ...changes[name] }]));
}

/** A paused carrier takes no new messages, waits for what is under way, and unbinds. Throws `NoSuchCarrier`. */
export async function setCarrierStatus(db: Db, id: string, status: CarrierDocument['status']): Promise<void> {
  const { matchedCount } = await carriers(db).updateOne({ _id: id }, { $set: { status } });
  if (matchedCount === 0) throw new NoSuchCarrier(`there is no carrier "${id}"`);
}

/** Also removes its bind report. False when the carrier is not paused. */
export async function removeCarrier(db: Db, id: string): Promise<boolean> {
  const { deletedCount } = await carriers(db).deleteOne({ _id: id, status: 'paused' });
  if (deletedCount === 1) await db.collection<{ readonly _id: string }>('bind_reports').deleteOne({ _id: id });
  return deletedCount === 1;
}

/** Ordered by id. There are tens, not thousands. */
export async function listCarriers(db: Db): Promise<readonly CarrierDocument[]> {
  return carriers(db).find().sort({ _id: 1 }).toArray();
}

function carriers(db: Db): Collection<CarrierDocument> {
  return db.collection('carriers');
}
