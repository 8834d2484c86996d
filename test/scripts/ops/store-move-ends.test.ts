import { expect } from 'chai';
import type { Collection, Db } from 'mongodb';
import { operator } from '../../../scripts/ops/audited.ts';
import { moveStore } from '../../../scripts/ops/store/move.ts';
import { Progress } from '../../../scripts/ops/store/progress.ts';
import { systemClock as clock } from '../../../shared/runtime/clock.ts';
import { MoveWorld } from './move-world.ts';

const SLOW_MS = 300_000;

/** The last writes of a move to its target, in their order, and which call of its collection's method each is. */
const LAST_WRITES = [
  { collection: 'store_state', method: 'replaceOne', call: 2 }, // the comparison is noted; the first marked the copy
  { collection: 'audit', method: 'updateOne', call: 1 },
  { collection: 'audit', method: 'updateOne', call: 2 },
  { collection: 'store_state', method: 'deleteOne', call: 1 }, // the target is opened
] as const;

describe('npm run ops: a move that ends between its last writes', function () {
  this.timeout(SLOW_MS);
  let world: MoveWorld;
  beforeEach(async () => {
    world = await MoveWorld.open();
  });
  afterEach(() => world.close());

  it('is finished by the same command, whichever was the last, with one entry in the audit', async () => {
    await world.fill(10);
    const ended: string[] = [];
    for (const write of LAST_WRITES) ended.push(await moveTo(endingBefore(world.target.db, write)).catch(String));

    const { code, err, out } = await world.export('--json');

    expect(ended).to.deep.equal(LAST_WRITES.map(() => 'Error: killed'));
    expect({ code, err }).to.deep.equal({ code: 0, err: '' });
    expect(JSON.parse(out)).to.include({ ledgers: 2, balances: 1_023 });
    const shown = JSON.parse((await world.ops(world.target, 'store', 'show', '--json')).out);
    expect(shown).to.include({ access: 'open' });
    const entries = await world.target.db.collection('audit').find({ action: 'store.export' }).toArray();
    expect(entries.map(({ outcome }) => outcome)).to.deep.equal(['done']);
    const states = await world.target.db.collection('store_state').find().toArray();
    expect(states.map(({ _id }) => String(_id))).to.not.include('compared');
  });

  async function moveTo(target: Db): Promise<string> {
    await moveStore({
      ...{ source: { db: world.source.db, name: 'source' }, target: { db: target, name: 'target' } },
      ...{ action: 'store.export', progress: new Progress(undefined, clock), clock },
      ...{ actor: operator(), config: { auditDays: 1 } },
    });
    return 'done';
  }
});

/** The database; a call of a collection's method never reaches it, as if the process had been killed before it. */
function endingBefore(db: Db, { collection, method, call }: (typeof LAST_WRITES)[number]): Db {
  let calls = 0;
  const ending = (of: Collection): Collection =>
    withMethod(of, method, (...args) => {
      calls += 1;
      if (calls === call) return Promise.reject(new Error('killed'));
      return Reflect.apply(of[method], of, args);
    });
  return withMethod(db, 'collection', (name) => {
    const of = db.collection(String(name));
    return name === collection ? ending(of) : of;
  });
}

function withMethod<T extends object>(object: T, method: string, instead: (...args: unknown[]) => unknown): T {
  return new Proxy(object, {
    get(of, name) {
      if (name === method) return instead;
      const found: unknown = Reflect.get(of, name);
      return typeof found === 'function' ? found.bind(of) : found;
    },
  });
}
