import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../mongo/errors.ts';
import type { BindReportDocument } from './bind-report.ts';

/** Replaces the carrier's report; not that of a later holder. */
export async function writeBindReport(db: Db, report: BindReportDocument): Promise<void> {
  const { _id, ...said } = report;
  try {
    await reports(db).updateOne({ _id, epoch: { $lte: report.epoch } }, { $set: said }, { upsert: true });
  } catch (error) {
    // A later holder's is there: the upsert then tried to insert beside it.
    if (!isDuplicateKey(error)) throw error;
  }
}

/** Of every carrier that was ever held, by its id. */
export async function readBindReports(db: Db): Promise<ReadonlyMap<string, BindReportDocument>> {
  const told = await reports(db).find().toArray();
  return new Map(told.map((report) => [report._id, report]));
}

function reports(db: Db): Collection<BindReportDocument> {
  return db.collection('bind_reports');
}
