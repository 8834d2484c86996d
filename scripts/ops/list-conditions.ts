import type { Db } from 'mongodb';
import type { CarrierMeasured } from '../../shared/carriers/bind-report.ts';
import { readBindReports } from '../../shared/carriers/bind-report-store.ts';
import { type CarrierDocument, carrierLease } from '../../shared/carriers/carrier.ts';
import { listCarriers } from '../../shared/carriers/store.ts';
import { heldEpochs } from '../../shared/leases/holders.ts';
import { type CarrierCondition, carrierCondition } from './carrier-condition.ts';

interface Listed extends CarrierCondition {
  readonly carrier: CarrierDocument;
  /** What the carrier's holder has measured. Absent if no process holds it. */
  readonly measured?: CarrierMeasured;
}

/** All carriers with their state at `now`, by id. */
export async function listConditions(db: Db, now: Date): Promise<readonly Listed[]> {
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
