import type { Db } from 'mongodb';
import { heldEpochs } from '../platform/leases/lease.ts';
import {
  type BindReport,
  type BindReportDocument,
  type BindTrouble,
  type CarrierMeasured,
  readBindReports,
} from './bind-report.ts';
import { type CarrierDocument, carrierLease } from './carrier.ts';
import { listCarriers } from './carrier-store.ts';

/** `unheld`: by no process. `binding`: starting, nothing has failed yet. The others: no bind is up, and why. */
export type Condition = 'paused' | 'unheld' | 'binding' | 'bound' | 'partly_bound' | BindTrouble['kind'];

interface CarrierCondition {
  readonly condition: Condition;
  readonly words: string;
  /** Each bind as its holder reports it; empty without a holder. */
  readonly binds: readonly BindReport[];
}

/** `epoch`: of the carrier's lease, if it is held now. Pure. */
export function carrierCondition(
  { status, binds: wanted, bindKind }: Pick<CarrierDocument, 'status' | 'binds' | 'bindKind'>,
  epoch: number | undefined,
  report: BindReportDocument | undefined,
): CarrierCondition {
  if (status === 'paused') return { condition: 'paused', words: 'paused', binds: [] };
  if (epoch === undefined) return { condition: 'unheld', words: `held by no process: ${NOT_RUNNING}`, binds: [] };
  const binds = report?.epoch === epoch ? report.binds : [];
  const bound = binds.filter(({ state }) => state === 'bound');
  const troubles = binds.flatMap(({ trouble }) => trouble ?? []);
  const [worst] = troubles.toSorted((a, b) => SEVERITY.indexOf(a.kind) - SEVERITY.indexOf(b.kind));
  const why = worst === undefined ? '' : troubleWords(worst);
  if (bound.length === 0) {
    return worst === undefined
      ? { condition: 'binding', words: 'binding', binds }
      : { condition: worst.kind, words: why, binds };
  }
  const count = `${bound.length} of ${wanted}${bindKind === 'pair' ? ' pairs' : ''}`;
  if (bound.length >= wanted) {
    const since = new Date(Math.max(...bound.map((one) => one.since.getTime())));
    return { condition: 'bound', words: `bound (${count}) since ${since.toISOString()}`, binds };
  }
  return { condition: 'partly_bound', words: `bound (${count})${why === '' ? '' : `; ${why}`}`, binds };
}

/** `bind refused: wrong password (0x0E) since 2026-11-21T10:00:00.000Z`. */
export function troubleWords({ kind, code, reason, since }: BindTrouble & { readonly since: Date }): string {
  return `${HEADS[kind]}: ${reason} (${code}) since ${since.toISOString()}`;
}

const NOT_RUNNING =
  'is the smpp process running, with the secret key that the carrier was made with, and has the store room on its disk?';

const HEADS: Readonly<Record<BindTrouble['kind'], string>> = {
  refused: 'bind refused',
  unanswered: 'not bound',
  unreachable: 'unreachable',
  lost: 'connection lost',
};

/** Most urgent first: troubles that a person must correct. */
const SEVERITY: readonly BindTrouble['kind'][] = ['refused', 'unreachable', 'unanswered', 'lost'];

export interface ListedCarrier extends CarrierCondition {
  readonly carrier: CarrierDocument;
  readonly measured?: CarrierMeasured;
}

/** Ordered by id. */
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
