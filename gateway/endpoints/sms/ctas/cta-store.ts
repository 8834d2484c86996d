import type { Collection, Db } from 'mongodb';
import type { CtaDocument } from '../../../../shared/carriers/cta.ts';
import { decideRegistration, insertRegistration } from '../../../../shared/carriers/registration-store.ts';
import { roomFor } from '../../../../shared/money/accounts/quotas.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import type { Clock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, type CtaId, newId } from '../../../../shared/platform/runtime/ids.ts';

export class CtaExists extends Error {
  readonly code = 'cta_exists';
}

export type NewCta = Pick<CtaDocument, 'kind' | 'value'>;

/** `requested`: the account asks for it. What an operator gives is approved. */
export interface Giver {
  readonly account: AccountId;
  readonly requested: boolean;
}

/** Throws `CtaExists` and `QuotaReached`. */
export async function createCta(
  db: Db,
  clock: Clock,
  giver: Giver,
  cta: NewCta,
  id: CtaId = newId('cta', clock.now().getTime()),
): Promise<CtaDocument> {
  const document: CtaDocument = { _id: id, ...documentOf(clock, giver, cta) };
  const find = () => findCta(db, giver.account, cta.value);
  if (!(await insertRegistration(db, 'ctas', document, { inPlace: true, find }))) {
    throw new CtaExists(`${giver.account} has the CTA already`);
  }
  return document;
}

function documentOf(clock: Clock, { account, requested }: Giver, { kind, value }: NewCta): Omit<CtaDocument, '_id'> {
  const asked = { status: requested ? 'submitted' : 'approved', ...(requested && { requested }) } as const;
  return { account, kind, value, ...asked, createdAt: clock.now() };
}

export interface ImportedCtas {
  readonly created: number;
  readonly known: number;
  /** Existing ones that an operator's file has approved now. The account is not told. */
  readonly approved: number;
}

/**
 * All, or nothing without room (`QuotaReached`); if others take the last places meanwhile, a part may be stored. May be
 * repeated after a failure.
 */
export async function importCtas(
  db: Db,
  clock: Clock,
  giver: Giver,
  given: readonly NewCta[],
  dryRun: boolean,
): Promise<ImportedCtas> {
  const { account, requested } = giver;
  const there = await findAll(db, account, given);
  const isNew = (known: ReadonlyMap<string, unknown>) => given.filter(({ value }) => !known.has(value));
  const created = isNew(there).length;
  const waiting = requested ? [] : [...there.values()].filter(({ status }) => status !== 'approved');
  const imported = { created, known: given.length - created, approved: waiting.length };
  if (dryRun) {
    if (created > 0) await roomFor(db, 'ctas', account, created);
    return imported;
  }
  for (let missing = isNew(there); missing.length > 0; missing = isNew(await findAll(db, account, given))) {
    const places = await roomFor(db, 'ctas', account, missing.length);
    // A duplicate key: it exists, or somebody else took its place.
    await insertNew(
      db,
      'ctas',
      missing.map((cta, n) => ({ _id: newId('cta'), ...documentOf(clock, giver, cta), place: places[n] })),
    );
  }
  if (waiting.length > 0) {
    await ctas(db).updateMany(
      { _id: { $in: waiting.map(({ _id }) => _id) }, account },
      { $set: { status: 'approved', decidedAt: clock.now() }, $unset: { reason: '' } },
    );
  }
  return imported;
}

async function findAll(db: Db, account: AccountId, given: readonly NewCta[]): Promise<Map<string, CtaDocument>> {
  const values = given.map(({ value }) => value);
  const found = await ctas(db)
    .find({ account, value: { $in: values } })
    .toArray();
  return new Map(found.map((one) => [one.value, one]));
}

/** Gateways see it within seconds; the account is told. False when the account has no such CTA. Idempotent. */
export function decideCta(
  db: Db,
  clock: Clock,
  { _id, account, value }: Pick<CtaDocument, '_id' | 'account' | 'value'>,
  status: 'approved' | 'rejected',
  reason?: string,
): Promise<boolean> {
  const told = { at: clock.now(), event: `cta.${status}`, told: { value } };
  return decideRegistration(db, 'ctas', { _id, account }, { status, reason, ...told, freesPlace: false });
}

export function listCtaPage(db: Db, account: AccountId, after: string, limit: number): Promise<CtaDocument[]> {
  return ctas(db)
    .find({ account, value: { $gt: after } })
    .sort({ value: 1 })
    .limit(limit)
    .toArray();
}

export async function readApprovedCtas(db: Db, account: AccountId): Promise<ReadonlySet<string>> {
  const found = ctas(db).find({ account, status: 'approved' }, { projection: { _id: 0, value: 1 } });
  return new Set((await found.toArray()).map(({ value }) => value));
}

export async function findCta(db: Db, account: AccountId, value: string): Promise<CtaDocument | undefined> {
  return (await ctas(db).findOne({ account, value })) ?? undefined;
}

export async function findCtaById(db: Db, account: AccountId, id: CtaId): Promise<CtaDocument | undefined> {
  return (await ctas(db).findOne({ _id: id, account })) ?? undefined;
}

/** Frees its place. Gateways see it within seconds. False when the account has no such CTA. */
export async function removeCta(db: Db, account: AccountId, id: CtaId): Promise<boolean> {
  return (await ctas(db).deleteOne({ _id: id, account })).deletedCount === 1;
}

function ctas(db: Db): Collection<CtaDocument> {
  return db.collection('ctas');
}
