import { malformed } from '../bson/errors.ts';
import { fieldOf, MISSING, TYPE } from '../bson/read.ts';
import { EVERYTHING, parseFilter } from '../query/filter.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort } from '../query/sort.ts';
import { checkUpsertFilter, parseUpdate } from '../update/update.ts';
import type { Command } from './command.ts';
import { reply } from './reply.ts';
import { type Progress, Rest, Slice, type Step } from './slices.ts';
import type { Store } from './store.ts';
import { changeTargets, type TargetChange } from './targets.ts';
import { changeDocument, upsertDocument } from './update.ts';

const ID = Buffer.from('_id');

export function findAndModify(store: Store, command: Command): Progress {
  const context = { nowMs: store.now() };
  const remove = command.flag('remove', false);
  const giveNew = command.flag('new', false);
  const upsert = command.flag('upsert', false);
  const change = command.get('update');
  if (remove ? upsert || giveNew || change.type !== TYPE.missing : change.type === TYPE.missing) {
    throw malformed('either remove, or an update with what belongs to it');
  }
  const query = command.document('query');
  const filter = query.type === TYPE.missing ? EVERYTHING : parseFilter(query.buf, query.pos);
  if (upsert) checkUpsertFilter(filter);
  const projection = parseProjection(command.get('fields'));
  const shown = (doc: Buffer): Buffer => (projection === undefined ? doc : projection(doc));
  const parsed = remove ? undefined : parseUpdate(change, context);
  const sort = parseSort(command.get('sort'));
  const none = (): Buffer => (remove ? answer({ n: 0 }) : answer({ n: 0, updatedExisting: false }));
  const collection = upsert
    ? store.catalog.ensure(command.db, command.collection())
    : store.catalog.get(`${command.db}.${command.collection()}`);
  if (collection === undefined) return none();
  const target: TargetChange<Tally> = {
    collection,
    filter,
    sort,
    one: true,
    hint: MISSING,
    context,
    change(now, hit, tally) {
      if (parsed === undefined) {
        store.documents.remove(now, hit.key, hit.doc);
        tally.reply = answer({ n: 1, value: shown(hit.doc) });
      } else {
        const next = changeDocument(store, now, hit, parsed) ?? hit.doc;
        tally.reply = answer({ n: 1, updatedExisting: true, value: shown(giveNew ? next : hit.doc) });
      }
    },
    end(now, matched, tally) {
      if (matched > 0 || !upsert || parsed === undefined) return;
      const doc = upsertDocument(store, now, filter, parsed);
      const value = giveNew ? shown(doc) : undefined;
      tally.reply = answer({ n: 1, updatedExisting: false, upserted: doc, value });
    },
  };
  return inSlices(store, (tally, slice) => changeTargets(store, target, tally, slice), none);
}

interface Tally {
  reply: Buffer | undefined;
}

function inSlices(store: Store, step: Step<Tally>, none: () => Buffer): Progress {
  const tally: Tally = { reply: undefined };
  const rest = step(tally, new Slice(store));
  return rest === undefined ? (tally.reply ?? none()) : new Rest(() => inSlices(store, rest, none));
}

interface Outcome {
  readonly n: number;
  readonly updatedExisting?: boolean;
  /** The document that an upsert made. */
  readonly upserted?: Buffer;
  readonly value?: Buffer | undefined;
}

function answer({ n, updatedExisting, upserted, value }: Outcome): Buffer {
  return reply((out) => {
    const last = out.object('lastErrorObject');
    out.int32('n', n);
    if (updatedExisting !== undefined) out.bool('updatedExisting', updatedExisting);
    if (upserted !== undefined) out.value('upserted', fieldOf(upserted, 0, ID));
    out.close(last);
    if (value === undefined) out.null('value');
    else out.document('value', value);
  });
}
