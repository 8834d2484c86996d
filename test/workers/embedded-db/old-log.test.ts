import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { tempDir } from './store-under-test.ts';

/** The number of the last group that the tables of these tests hold. */
const STORED = 3;

describe('embedded-db log of a version before store ids', () => {
  let dir: string;
  let copies = 0;
  beforeEach(() => {
    dir = tempDir();
    copies = 0;
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  /** A directory as the older version left it: tables without an id, and this log. */
  async function older(log: Buffer): Promise<string> {
    const made = join(dir, 'made');
    mkdirSync(made, { recursive: true });
    if (copies === 0) {
      const database = new Database(made, 'none');
      for (const value of ['1', '2']) put(database, value);
      database.write(() => {
        for (const key of ['store', 'sized']) database.remove(database.meta, Buffer.from(key));
      });
      await database.close();
    }
    const copy = join(dir, `copy${copies++}`);
    mkdirSync(copy);
    copyFileSync(join(made, 'data.mdb'), join(copy, 'data.mdb'));
    writeFileSync(join(copy, 'data.log'), log);
    return copy;
  }

  function put(database: Database, value: string): void {
    database.write(() => database.put(database.entries, Buffer.from('k'), Buffer.from(value)));
  }

  async function valueIn(where: string): Promise<string | undefined> {
    const database = new Database(where, 'none');
    const value = database.get(database.entries, Buffer.from('k'))?.toString();
    await database.close();
    return value;
  }

  /** A group that puts `k`; `[bytes of the changes u32][crc32 of what follows u32][number f64]`, table, lengths, key, value. */
  function group(number: number, value: string): Buffer {
    const head = Buffer.alloc(16);
    const change = Buffer.alloc(7);
    change[0] = 1; // entries
    change.writeUInt16LE(1, 1);
    change.writeUInt32LE(value.length, 3);
    const changes = Buffer.concat([change, Buffer.from('k'), Buffer.from(value)]);
    head.writeUInt32LE(changes.length, 0);
    head.writeDoubleLE(number, 8);
    head.writeUInt32LE(crc32(Buffer.concat([head.subarray(8), changes])), 4);
    return Buffer.concat([head, changes]);
  }

  function spoilt(log: Buffer, at: number): Buffer {
    const next = Buffer.from(log);
    next[at] = (next[at] ?? 0) ^ 1;
    return next;
  }

  it('is done again, and the log goes on in the new form', async () => {
    const where = await older(Buffer.concat([group(4, 'four'), group(5, 'five'), group(2, 'left over')]));

    expect(await valueIn(where)).to.equal('five');
    expect(await valueIn(where)).to.equal('five');

    const database = new Database(where, 'none');
    put(database, 'six');
    expect(readFileSync(join(where, 'data.log')).subarray(0, 4).toString()).to.equal('HKG2');
    await database.close();
    expect(await valueIn(where)).to.equal('six');
  });

  it('opens when a power failure left half a first group over those that the tables hold', async () => {
    const before = Buffer.concat([group(1, 'one'), group(2, 'two'), group(3, 'three')]);

    expect(await valueIn(await older(spoilt(before, 24)))).to.equal('2');
    expect(await valueIn(await older(spoilt(before, 0)))).to.equal('2');
  });

  it('goes on behind a damaged group that the tables hold', async () => {
    const log = Buffer.concat([group(2, 'two'), group(3, 'three'), group(4, 'four')]);

    expect(await valueIn(await older(spoilt(log, 20)))).to.equal('four');
  });

  it('leaves out a last group that is not whole', async () => {
    const log = Buffer.concat([group(4, 'four'), spoilt(group(5, 'five'), 23)]);

    expect(await valueIn(await older(log))).to.equal('four');
  });

  it('is refused when a group that is needed is damaged, or missing', async () => {
    const damaged = await older(Buffer.concat([group(4, 'a'), spoilt(group(5, 'b'), 23), group(6, 'c')]));
    const elsewhere = await older(Buffer.concat([group(6, 'a'), group(7, 'b')]));

    expect(() => new Database(damaged, 'none')).to.throw(
      /is damaged: group 5 .* and 1 more follow it.*truncate -s 25 /,
    );
    expect(() => new Database(elsewhere, 'none')).to.throw(
      `does not belong to the data.mdb beside it: it begins with group 6, that ends with ${STORED}`,
    );
  });

  it('is read once more when an older version was killed on a directory of this one', async () => {
    const where = await older(Buffer.concat([group(4, 'four')]));
    expect(await valueIn(where)).to.equal('four');
    writeFileSync(join(where, 'data.log'), group(5, 'written by the older version'));

    expect(await valueIn(where)).to.equal('written by the older version');
  });

  it('is refused in the new form beside tables that have no id yet', async () => {
    const newer = join(dir, 'newer');
    mkdirSync(newer);
    const database = new Database(newer, 'none');
    put(database, 'x');
    const log = readFileSync(join(newer, 'data.log'));
    await database.close();

    expect(await older(log).then((where) => () => new Database(where, 'none'))).to.throw(/another store wrote it/);
  });
});
