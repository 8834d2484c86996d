import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../platform/mongo/errors.ts';
import type { BindReportDocument } from './bind-report.ts';

/** Replaces the carrier's report, unless a later holder has written one. */
export async function writeBindReport(db: Db, report: BindReportDocument): Promise<void> {
  const { _id, ...said } = report;
  try {
    await reports(db).updateOne({ _id, epoch: { $lte: report.epoch } }, { $set: said }, { upsert: true });
  } catch (error) {
    // A later holder's report exists: the upsert tried to insert a second one.
    if (!isDuplicateKey(error)) throw error;
  }
}

/** The reports of all carriers that were ever held, by carrier id. */
export async function readBindReports(db: Db): Promise<ReadonlyMap<string, BindReportDocument>> {
  const told = await reports(db).find().toArray();
  return new Map(told.map((report) => [report._id, report]));
}

function reports(db: Db): Collection<BindReportDocument> {
  return db.collection('bind_reports');
}
