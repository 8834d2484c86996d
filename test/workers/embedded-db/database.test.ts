import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { tempDir } from './store-under-test.ts';

type Model = ReadonlyMap<string, string>;

/** A group's writes: keys to values, or null to remove. */
type Writes = Readonly<Record<string, string | null>>;

describe('embedded-db database', () => {
  let dir: string;
  let copies = 0;
  const open: Database[] = [];
  beforeEach(() => {
    dir = tempDir();
  });
  afterEach(async () => {
    for (const database of open.splice(0)) await database.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function opened(where: string): Database {
    mkdirSync(where, { recursive: true });
    const database = new Database(where, 'none');
    open.push(database);
    return database;
  }

  function write(database: Database, writes: Writes): void {
    database.write(() => {
      for (const [key, value] of Object.entries(writes)) {
        if (value === null) database.remove(database.entries, Buffer.from(key));
        else database.put(database.entries, Buffer.from(key), Buffer.from(value));
      }
    });
  }

  function after(model: Model, writes: Writes): Model {
    const next = new Map(model);
    for (const [key, value] of Object.entries(writes)) {
      if (value === null) next.delete(key);
      else next.set(key, value);
    }
    return next;
  }

  function contents(database: Database): Model {
    const all = { start: Buffer.from([0]), end: Buffer.from([255]) };
    const entries = database.range(database.entries, all, false, 10_000);
    return new Map(entries.map(({ key, value }) => [key.toString(), value.toString()]));
  }

  /** A copy of the files as if the machine stopped now; `spoil` may damage the log. */
  function leftBehind(from: string, spoil: (log: Buffer) => Buffer = (log) => log): string {
    const copy = join(dir, `copy${copies++}`);
    mkdirSync(copy);
    copyFileSync(join(from, 'data.mdb'), join(copy, 'data.mdb'));
    if (existsSync(join(from, 'data.log')))
      writeFileSync(join(copy, 'data.log'), spoil(readFileSync(join(from, 'data.log'))));
    return copy;
  }

  /** The end of all bytes ever written; the rest of the file is zero. */
  function written(log: Buffer): number {
    return log.findLastIndex((byte) => byte !== 0) + 1;
  }

  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const writes = fc.dictionary(key, fc.option(fc.string({ maxLength: 40 })), { minKeys: 1 });
  const step = fc.oneof(
    { weight: 6, arbitrary: writes },
    { weight: 1, arbitrary: fc.constantFrom('checkpoint' as const, 'reopen' as const) },
  );

  it('has all groups, or all but a last one that was not written whole, wherever it stops', async () => {
    const spoiling = fc.record({ lost: fc.nat(), flip: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), spoiling, async (steps, { lost, flip }) => {
        const where = join(dir, `run${copies++}`);
        let database = opened(where);
        let model: Model = new Map();
        let before = model;
        for (const one of steps) {
          if (one === 'checkpoint') await database.checkpoint();
          else if (one === 'reopen') {
            await database.close();
            open.splice(open.indexOf(database), 1);
            database = opened(where);
          } else {
            before = model;
            model = after(model, one);
            const size = written(readFileSync(join(where, 'data.log')));
            write(database, one);
            // Damages only bytes that the last group added beyond everything written before.
            const spoilt = leftBehind(where, (log) => {
              const end = written(log);
              if (end <= size) return log;
              const at = size + (lost % (end - size));
              if (!flip) return log.fill(0, at);
              log[at] = (log[at] ?? 0) ^ 1;
              return log;
            });
            expect(contents(opened(spoilt))).to.be.deep.oneOf([before, model]);
          }
          expect(contents(database)).to.deep.equal(model);
          expect(contents(opened(leftBehind(where)))).to.deep.equal(model);
        }
        for (const used of open.splice(0)) await used.close();
      }),
      { numRuns: 40 },
    );
  });

  it('opens what an earlier start had to do again, as often as it is stopped at it', async () => {
    write(opened(join(dir, 'first')), { a: '1', b: '2' });

    const second = leftBehind(join(dir, 'first'));
    expect(contents(opened(second))).to.deep.equal(new Map(Object.entries({ a: '1', b: '2' })));
    const third = leftBehind(second);
    const database = opened(third);
    write(database, { b: null });

    expect(contents(opened(leftBehind(third)))).to.deep.equal(new Map([['a', '1']]));
  });

  it('begins the log anew at a checkpoint, and what is left behind its end does no harm', async () => {
    const database = opened(join(dir, 'first'));
    const value = 'x'.repeat(1000);
    for (let i = 0; i < 50; i++) write(database, { [`k${i}`]: value });
    const size = readFileSync(join(dir, 'first', 'data.log')).length;
    await database.checkpoint();

    write(database, { k0: 'new' });

    expect(readFileSync(join(dir, 'first', 'data.log')).length).to.equal(size);
    const found = contents(opened(leftBehind(join(dir, 'first'))));
    expect([found.size, found.get('k0'), found.get('k49')]).to.deep.equal([50, 'new', value]);
  });

  it('asks for a checkpoint when the log has grown, and not before', async () => {
    const database = opened(join(dir, 'first'));
    write(database, { a: 'x'.repeat(1000) });
    expect(database.checkpointDue).to.equal(false);

    while (!database.checkpointDue) write(database, { a: 'x'.repeat(100_000) });
    await database.checkpoint();

    expect(database.checkpointDue).to.equal(false);
  });

  it('removes what a killed compaction left', async () => {
    const left = join(dir, 'data.mdb.compact');
    writeFileSync(left, 'unfinished');

    opened(dir);

    expect(existsSync(left)).to.equal(false);
  });

  it('does not start with a log that belongs to other tables', async () => {
    const database = opened(join(dir, 'first'));
    write(database, { a: '1' });
    await database.checkpoint();
    write(database, { a: '2' });
    const copy = leftBehind(join(dir, 'first'));
    rmSync(join(copy, 'data.mdb'));

    expect(() => new Database(copy, 'none')).to.throw(/data\.log does not belong to the data\.mdb beside it/);
  });

  it('does not start with the log of another store whose numbers fit', async () => {
    const copies = await Promise.all(
      ['first', 'second'].map(async (name) => {
        const database = opened(join(dir, name));
        write(database, { a: name });
        await database.checkpoint();
        write(database, { a: `${name} again` });
        return leftBehind(join(dir, name));
      }),
    );
    const [first = '', second = ''] = copies;
    copyFileSync(join(second, 'data.log'), join(first, 'data.log'));

    expect(() => new Database(first, 'none')).to.throw(
      /does not belong to the data\.mdb beside it: another store wrote it/,
    );
  });

  it('does not start without its log, nor with one that is damaged before its end', async () => {
    const database = opened(join(dir, 'first'));
    write(database, { a: '1' });
    await database.checkpoint();
    for (const value of ['2', '3', '4']) write(database, { a: value });
    const without = leftBehind(join(dir, 'first'));
    rmSync(join(without, 'data.log'));
    const damaged = leftBehind(join(dir, 'first'), (log) => {
      log[20] = (log[20] ?? 0) ^ 1;
      return log;
    });

    expect(() => new Database(without, 'none')).to.throw(/data\.log is missing/);
    expect(() => new Database(damaged, 'none')).to.throw(/data\.log is damaged: group 2/);
  });
});
