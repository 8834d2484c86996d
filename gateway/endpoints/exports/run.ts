import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Collection, Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import { pieceId, piecesOf } from '../../../shared/messages/export-store.ts';
import { withinQuota } from '../../../shared/money/accounts/quotas.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  type ExportId,
  idTime,
  lowestId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { type Columns, csvHead, csvLines } from '../../api/csv.ts';
import { perProcess } from '../../api/endpoint.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { listMessages, type MessageFilter } from '../messages/message-list.ts';
import { type MessageSummary, viewOf } from '../messages/views.ts';

/**
 * A file of messages that an account asked for, stored in pieces so that every gateway can serve it. A piece counts
 * once `pieces` includes it; another gateway continues at `cursor`.
 */
export interface ExportDocument {
  readonly _id: ExportId;
  readonly account: AccountId;
  readonly by: string;
  readonly place: number;
  readonly filter: MessageFilter;
  readonly state: 'running' | 'done' | 'failed';
  /** The messages' times, walked from the newest to the oldest. */
  readonly from: Date;
  readonly until: Date;
  /** Messages from here on are in the pieces, or do not fit. */
  readonly cursor?: MessageId;
  readonly rows: number;
  readonly pieces: number;
  readonly bytes: number;
  readonly cut?: true;
  readonly at: Date;
  readonly expiresAt: Date;
}

const DAY_MS = 86_400_000;
/** Messages per read, and reads per piece: some 10,000 lines, which are 200 KB as gzip. */
const READ = 500;
const READS = 20;
/** The pause after each read, as a multiple of its duration: files may be slow, sends may not. */
const REST = 2;
const ROWS_MAX = 500_000;
/** After this time without progress its process must be gone. */
const STALLED_MS = 30_000;
const RUNNING_MAX = 3;

const zip = promisify(gzip);
const unzip = promisify(gunzip);

type RunDeps = Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'stopping'>;

/** Throws `QuotaReached`. */
export async function insertExport(
  { db, clock }: Pick<RunDeps, 'db' | 'clock'>,
  account: AccountId,
  { _id, by, filter }: Pick<ExportDocument, '_id' | 'by' | 'filter'>,
): Promise<ExportDocument> {
  const now = clock.now();
  const until = filter.createdBefore !== undefined && filter.createdBefore < now ? filter.createdBefore : now;
  const from = await firstTime(db, account, filter.createdFrom ?? new Date(0), until);
  const whole = { ...filter, createdBefore: until };
  return withinQuota(db, 'exports', account, async (place) => {
    const document: ExportDocument = {
      ...{
        _id,
        account,
        by,
        place,
        filter: whole,
        state: 'running',
        from,
        until,
        rows: 0,
        pieces: 0,
        bytes: 0,
        at: now,
      },
      expiresAt: new Date(now.getTime() + DAY_MS),
    };
    await exportsOf(db).insertOne(document);
    return document;
  });
}

async function firstTime(db: Db, account: AccountId, from: Date, until: Date): Promise<Date> {
  const oldest = await db
    .collection<AnyMessage>('messages')
    .find({ account, _id: { $gte: lowestId('msg', from) } }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .hint('account')
    .limit(1)
    .next();
  const at = oldest === null ? until : idTime(oldest._id);
  return at < until ? at : until;
}

export async function findExport(db: Db, account: AccountId, _id: ExportId): Promise<ExportDocument | undefined> {
  return (await exportsOf(db).findOne({ _id, account })) ?? undefined;
}

export async function listExports(db: Db, account: AccountId): Promise<readonly ExportDocument[]> {
  const found = await exportsOf(db).find({ account }).toArray();
  return found.sort((a, b) => (a._id < b._id ? 1 : -1));
}

export async function* exportFile(db: Db, { _id, pieces }: ExportDocument): AsyncGenerator<string> {
  yield csvHead(COLUMNS);
  for (let number = 0; number < pieces; number++) {
    const piece = await piecesOf(db).findOne({ _id: pieceId(_id, number) }, { promoteBuffers: true });
    if (piece === null) throw new Error(`the export ${_id} lacks its piece ${number}`);
    yield (await unzip(piece.bytes)).toString();
  }
}

/**
 * Makes the exports begun in this process and, when somebody looks at one, those whose process died. After each piece
 * the next export has its turn, so long files delay short ones only by seconds.
 */
class Exports {
  readonly #deps: RunDeps;
  readonly #waiting: ExportId[] = [];
  readonly #known = new Set<ExportId>();
  #running = 0;

  constructor(deps: RunDeps) {
    this.#deps = deps;
  }

  /** Continues an export unless another process does. */
  look(found: ExportDocument): void {
    const stalled = this.#deps.clock.now().getTime() - found.at.getTime() > STALLED_MS;
    if (found.state === 'running' && stalled) this.run(found);
  }

  run({ _id }: ExportDocument): void {
    if (this.#known.has(_id)) return;
    this.#known.add(_id);
    this.#waiting.push(_id);
    this.#next();
  }

  #next(): void {
    if (this.#running >= RUNNING_MAX) return;
    const id = this.#waiting.shift();
    if (id === undefined) return;
    this.#running++;
    void runExport(this.#deps, id).then((goesOn) => {
      this.#running--;
      if (goesOn) this.#waiting.push(id);
      else this.#known.delete(id);
      this.#next();
    });
  }
}

export const exportsIn = perProcess((gateway) => new Exports(gateway));

/**
 * Makes the next piece; returns whether there is more to do. Never rejects. Ends when the update matches nothing:
 * another process has taken over, or the export was removed.
 */
async function runExport({ db, clock, log, stopping }: RunDeps, _id: ExportId): Promise<boolean> {
  try {
    const begun = await exportsOf(db).findOne({ _id, state: 'running' });
    if (begun === null || stopping.aborted) return false;
    return (await nextPiece(db, clock, begun))?.state === 'running' && !stopping.aborted;
  } catch (error) {
    log.warn('export_failed', { export: _id, ...errorFields(error) });
    // If the store fails, the export stays as it is, and whoever looks at it continues it.
    await exportsOf(db)
      .updateOne({ _id, state: 'running' }, { $set: { state: 'failed' } })
      .catch(() => {});
    return false;
  }
}

/** The export with one more piece. Null: another process has changed it. */
async function nextPiece(db: Db, clock: Clock, document: ExportDocument): Promise<ExportDocument | null> {
  const { _id, account, filter, pieces, rows, expiresAt } = document;
  let cursor = document.cursor;
  let lines = '';
  let count = 0;
  let isEnd = false;
  for (let read = 0; read < READS && !isEnd && rows + count < ROWS_MAX; read++) {
    const beganMs = clock.monotonicMs();
    const { messages, next } = await listMessages(db, account, filter, cursor, READ);
    lines += await csvLines(COLUMNS, messages);
    count += messages.length;
    isEnd = next === undefined;
    cursor = next ?? cursor;
    await setTimeout(REST * (clock.monotonicMs() - beganMs));
  }
  const bytes = await zip(lines);
  if (count > 0) {
    const piece = { bytes, expiresAt };
    await piecesOf(db).replaceOne({ _id: pieceId(_id, pieces) }, piece, { upsert: true });
  }
  const isCut = !isEnd && rows + count >= ROWS_MAX;
  const changed = {
    ...{ state: isEnd || isCut ? ('done' as const) : ('running' as const), at: clock.now(), rows: rows + count },
    ...(cursor !== undefined && { cursor }),
    ...(count > 0 && { pieces: pieces + 1, bytes: document.bytes + bytes.length }),
    ...(isCut && { cut: true as const }),
  };
  const gotOn = await exportsOf(db).findOneAndUpdate(
    { _id, pieces, at: document.at, state: 'running' },
    { $set: changed },
    { returnDocument: 'after' },
  );
  // The file was removed meanwhile, perhaps because a person in it was erased.
  if (gotOn === null && (await findExport(db, account, _id)) === undefined) {
    await piecesOf(db).deleteOne({ _id: pieceId(_id, pieces) });
  }
  return gotOn;
}

const COLUMNS: Columns<MessageSummary> = {
  message_id: ({ _id }) => _id,
  created_at: ({ _id }) => isoTimestamp(idTime(_id)),
  channel: ({ channel }) => channel,
  direction: ({ direction }) => direction ?? 'out',
  to: ({ to }) => to,
  from: ({ from }) => from,
  sender: ({ sender }) => sender,
  route: ({ route }) => route,
  segments: ({ segments }) => segments,
  status: ({ state }) => STATES[state].shown,
  delivered_at: ({ deliveredAt }) => deliveredAt && isoTimestamp(deliveredAt),
  operator: (message) => viewOf(message).operatorOf(message),
  error_code: ({ errorCode }) => errorCode,
  error_reason: ({ errorReason }) => errorReason,
  reference: ({ reference }) => reference,
  batch_id: ({ batch }) => batch,
  conversation_id: ({ conversation }) => conversation,
};

function exportsOf(db: Db): Collection<ExportDocument> {
  return db.collection('exports');
}
