import type { Db } from 'mongodb';
import { readBindReports } from '../../shared/carriers/bind-report-store.ts';
import { type CarrierDocument, carrierLease } from '../../shared/carriers/carrier.ts';
import { listCarriers } from '../../shared/carriers/store.ts';
import { heldEpochs } from '../../shared/leases/holders.ts';
import { type CarrierCondition, carrierCondition } from './carrier-condition.ts';

/** All carriers with their state at `now`, by id. */
export async function listConditions(
  db: Db,
  now: Date,
): Promise<readonly ({ readonly carrier: CarrierDocument } & CarrierCondition)[]> {
  const carriers = await listCarriers(db);
  const leases = carriers.map(({ _id }) => carrierLease(_id));
  const [epochs, reports] = await Promise.all([heldEpochs(db, leases, now), readBindReports(db)]);
  return carriers.map((carrier) => ({
    carrier,
    ...carrierCondition(carrier, epochs.get(carrierLease(carrier._id)), reports.get(carrier._id)),
  }));
}
