import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open as openLmdb } from 'lmdb';
import { seededRandom } from '../../../scripts/chaos/faults.ts';
import { Database } from '../../../workers/embedded-db/storage/database.ts';
import { ALL, type Chosen, differingSectors, NONE, RecordedFile, record, withSectors } from './recorded-disk.ts';
import { tempDir } from './store-under-test.ts';

type Model = ReadonlyMap<string, string>;

/** The files after a power failure; undefined: missing. */
interface Disk {
  readonly tables: Buffer | undefined;
  readonly log: Buffer | undefined;
}

const LIVES = 8;
const STEPS = 12;
/** The heads of the two meta pages. LMDB writes these sectors last, one by one, after syncing all others. */
const META_SECTORS = [0, 8192 / 512];

describe('embedded-db after a power failure', function () {
  this.timeout(300_000);
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

  function placed({ tables, log }: Disk): string {
    const where = join(dir, `disk${copies++}`);
    mkdirSync(where);
    if (tables !== undefined) writeFileSync(join(where, 'data.mdb'), tables);
    if (log !== undefined) writeFileSync(join(where, 'data.log'), log);
    return where;
  }

  function tablesIn(where: string): Buffer | undefined {
    const path = join(where, 'data.mdb');
    return existsSync(path) ? readFileSync(path) : undefined;
  }

  async function contentsOf(disk: Disk): Promise<Model> {
    const where = placed(disk);
    const database = new Database(where, 'none');
    const all = { start: Buffer.from([0]), end: Buffer.from([255]) };
    const found = database.range(database.entries, all, false, 10_000);
    await database.close();
    rmSync(where, { recursive: true });
    return new Map(found.map(({ key, value }) => [key.toString(), value.toString()]));
  }

  /** Runs a store on `start` and records what a power failure at each write would leave; returns one of those disks. */
  async function life(start: Disk, had: Model, random: () => number): Promise<{ disk: Disk; model: Model }> {
    const where = placed(start);
    const file = new RecordedFile(join(where, 'data.log'));
    const left: { disk: Disk; allowed: readonly Model[] }[] = [];
    const some = (): Chosen => (sector) => (sector + random() * 2) % 2 < 1;
    const stop = record(file);
    try {
      let model = had;
      let next = had;
      file.onMoment = () => {
        for (const chosen of [NONE, ALL, some(), some()]) {
          const disk = { tables: tablesIn(where), log: file.image(chosen) };
          left.push({ disk, allowed: [model, next] });
        }
      };
      /** Records disks between old and new tables: with some unsynced sectors, with all, with the meta page too. */
      const storing = async (action: () => Promise<void> | void): Promise<void> => {
        const before = tablesIn(where);
        await action();
        const after = tablesIn(where) ?? Buffer.alloc(0);
        if (before === undefined) return;
        const sectors = differingSectors(before, after);
        const pages = sectors.filter((sector) => !META_SECTORS.includes(sector));
        const half = pages.filter(() => random() < 0.5);
        for (const there of [half, pages, sectors]) {
          const disk = { tables: withSectors(before, after, there), log: file.image(ALL) };
          left.push({ disk, allowed: [model] });
        }
        expect(file.unsynced).to.equal(0);
      };

      let database: Database | undefined;
      await storing(() => {
        database = new Database(where, 'fsync');
        open.push(database);
      });
      if (database === undefined) throw new Error('not opened');
      const used = database;
      for (let step = 0; step < STEPS; step++) {
        if (random() < 0.2) await storing(async () => void (await used.checkpoint()));
        const changes = new Map(model);
        used.write(() => {
          for (let i = 0; i < 1 + random() * 4; i++) {
            const key = `k${Math.floor(random() * 12)}`;
            if (changes.has(key) && random() < 0.3) {
              used.remove(used.entries, Buffer.from(key));
              changes.delete(key);
            } else {
              const value = `${step} ${'v'.repeat(random() * 900)}`;
              used.put(used.entries, Buffer.from(key), Buffer.from(value));
              changes.set(key, value);
            }
          }
          next = changes;
        });
        expect(file.unsynced, 'acknowledged before it was synced').to.equal(0);
        model = next;
      }
    } finally {
      stop();
    }
    for (const { disk, allowed } of left) expect(await contentsOf(disk)).to.be.deep.oneOf([...allowed]);
    const one = left[Math.floor(random() * left.length)];
    if (one === undefined) throw new Error('nothing was written');
    return { disk: one.disk, model: await contentsOf(one.disk) };
  }

  it('has all that was acknowledged, and nothing else but a whole last group, over many lives', async () => {
    for (const seed of [1, 2, 3]) {
      const random = seededRandom(seed).next;
      let state: { disk: Disk; model: Model } = { disk: { tables: undefined, log: undefined }, model: new Map() };
      for (let i = 0; i < LIVES; i++) state = await life(state.disk, state.model, random);
    }
  });

  it('starts with tables whose first making had not ended', async () => {
    const path = join(dir, 'data.mdb');
    await openLmdb({ path, noSubdir: true, maxDbs: 4, overlappingSync: false, pageSize: 8192 }).close();
    const made = readFileSync(path); // The meta pages of an empty file, which LMDB writes first.
    expect(made).to.have.lengthOf(16384);
    const random = seededRandom(4).next;
    const log = Buffer.alloc(0);
    const cut = [0, 512, 4096, 8192, 12288].map((length) => made.subarray(0, length));
    const torn = Array.from({ length: 20 }, () => {
      const sectors = differingSectors(Buffer.alloc(0), made).filter(() => random() < 0.5);
      return withSectors(Buffer.alloc(16384), made, sectors);
    });

    for (const tables of [...cut, Buffer.alloc(16384), Buffer.alloc(4096), ...torn]) {
      expect(await contentsOf({ tables, log })).to.deep.equal(new Map());
    }
    expect(await contentsOf({ tables: undefined, log })).to.deep.equal(new Map());
  });

  it('says so when a damaged log is short of anything that was acknowledged, whichever byte it is', async () => {
    const { tables, log, model } = await logOfTwoRounds();
    let [opened, refused, told] = [0, 0, 0];

    const written = log.findLastIndex((byte) => byte !== 0) + 1; // After it nothing was ever written.
    for (let at = 0; at < written; at++) {
      const damaged = Buffer.from(log);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      const where = placed({ tables, log: damaged });
      try {
        const database = new Database(where, 'none');
        const found = database.get(database.entries, Buffer.from('k'))?.toString();
        await database.close();
        if (found === model.get('k')) opened++;
        else {
          expect(database.recovery.dropped?.number, `byte ${at}`).to.equal(7);
          told++;
        }
      } catch (error) {
        expect(String(error)).to.match(/is damaged: group [56] is not .*truncate -s \d+|does not belong/);
        refused++;
      }
      rmSync(where, { recursive: true });
    }

    expect({ opened, refused, told }).to.satisfy(() => opened > 0 && refused > 0 && told > 0);
  });

  it('goes on with what is before the damage when the file is cut as the sentence says', async () => {
    const { tables, log } = await logOfTwoRounds();
    log[130] = (log[130] ?? 0) ^ 1;
    let sentence = '';
    try {
      new Database(placed({ tables, log }), 'none');
    } catch (error) {
      sentence = String(error);
    }

    const where = placed({ tables, log });
    for (const [, bytes] of sentence.matchAll(/truncate -s (\d+)/g))
      truncateSync(join(where, 'data.log'), Number(bytes));
    const found = await contentsOf({ tables, log: readFileSync(join(where, 'data.log')) });

    expect(sentence).to.match(/is damaged: group 6 is not as it was written, and 1 more follow/);
    expect(found.get('k')).to.match(/^fifth/);
  });

  it('says that the log was cut off, at whatever length, and goes on when it is filled up as the sentence says', async () => {
    const { tables, log } = await logOfTwoRounds();
    const written = log.findLastIndex((byte) => byte !== 0) + 1;

    for (let length = 0; length < written; length++) {
      const where = placed({ tables, log: log.subarray(0, length) });
      expect(() => new Database(where, 'none'), `${length} bytes`).to.throw(
        /was cut off: it has \d+ bytes.*truncate -s 65536/,
      );
      truncateSync(join(where, 'data.log'), 65_536);
      await new Database(where, 'none').close();
      rmSync(where, { recursive: true });
    }
  });

  /** Tables with four groups, and a log with three more before leftover bytes of the previous round. */
  async function logOfTwoRounds(): Promise<{ tables: Buffer; log: Buffer; model: Model }> {
    const where = placed({ tables: undefined, log: undefined });
    const database = new Database(where, 'fsync');
    open.push(database);
    const put = (value: string): void => {
      database.write(() => database.put(database.entries, Buffer.from('k'), Buffer.from(value.padEnd(40, '.'))));
    };
    for (const value of ['first', 'second', 'third', 'fourth'.padEnd(200)]) put(value);
    await database.checkpoint();
    const tables = readFileSync(join(where, 'data.mdb'));
    for (const value of ['fifth', 'sixth', 'seventh']) put(value);
    const log = readFileSync(join(where, 'data.log'));
    return { tables, log, model: new Map([['k', 'seventh'.padEnd(40, '.')]]) };
  }
});
