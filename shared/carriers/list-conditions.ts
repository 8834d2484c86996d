import type { Db } from 'mongodb';
import { heldEpochs } from '../platform/leases/lease.ts';
import type { CarrierMeasured } from './bind-report.ts';
import { readBindReports } from './bind-report-store.ts';
import { type CarrierDocument, carrierLease } from './carrier.ts';
import { type CarrierCondition, carrierCondition } from './carrier-condition.ts';
import { listCarriers } from './carrier-store.ts';

export interface ListedCarrier extends CarrierCondition {
  readonly carrier: CarrierDocument;
  /** What the carrier's holder has measured. Absent if no process holds it. */
  readonly measured?: CarrierMeasured;
}

/** All carriers with their state at `now`, by id. */
export async function listConditions(db: Db, now: Date): Promise<readonly ListedCarrier[]> {
  const carriers = await listCarriers(db);
  const leases = carriers.map(({ _id }) => carrierLease(_id));
  const [epochs, reports] = await Promise.all([heldEpochs(db, leases, now), readBindReports(db)]);
  return carriers.map((carrier) => {
    const epoch = epochs.get(carrierLease(carrier._id));
    const report = reports.get(carrier._id);
    const measured = report !== undefined && report.epoch === epoch ? report.measured : undefined;
    return { carrier, ...carrierCondition(carrier, epoch, report), ...(measured && { measured }) };
  });
}
