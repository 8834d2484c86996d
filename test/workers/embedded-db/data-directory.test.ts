import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisProcess } from '../../../shared/platform/runtime/process-identity.ts';
import { EMBEDDED, errorOf } from './store-under-test.ts';
import { storesInOneDirectory } from './stores-world.ts';

if (EMBEDDED) {
  describe('embedded-db server, and who has its data directory', () => {
    const world = storesInOneDirectory();
    const { start, connect, stop } = world;

    it('is for its own user only, whatever an older version or a copy left', async () => {
      const inside = join(world.dir, 'store');
      const modes = (): Record<string, string> => {
        const names = ['', ...readdirSync(inside, { recursive: true, encoding: 'utf8' })];
        return Object.fromEntries(names.map((name) => [name, (statSync(join(inside, name)).mode & 0o777).toString(8)]));
      };
      const store = await start({ dir: inside });
      await connect(store).db('x').collection('c').insertOne({});
      const made = modes();
      expect(made).to.include({ 'store.sock': '600', 'store.lock': '600', 'data.mdb': '600', 'data.log': '600' });
      expect(Object.values(made).filter((mode) => mode !== '600')).to.deep.equal(['700']);

      await stop(store);
      mkdirSync(join(inside, 'changes'));
      writeFileSync(join(inside, 'changes', 'x.c'), '');
      chmodSync(join(inside, 'changes'), 0o777);
      for (const name of ['data.mdb', 'data.mdb-lock', 'data.log', 'changes/x.c']) chmodSync(join(inside, name), 0o666);
      chmodSync(inside, 0o755);
      await start({ dir: inside });

      const { '': own, changes, ...files } = modes();
      expect([own, changes]).to.deep.equal(['700', '700']);
      expect(new Set(Object.values(files))).to.deep.equal(new Set(['600']));
    });

    it('starts beside what another user left in its directory, and leaves that as it is', async function () {
      if (process.getuid?.() !== 0) this.skip(); // Only root can give files away.
      const [copy, folder] = [join(world.dir, 'data.mdb.bak'), join(world.dir, 'lost+found')];
      mkdirSync(join(folder, 'inner'), { recursive: true });
      writeFileSync(copy, '');
      const theirs = [copy, folder, join(folder, 'inner')];
      for (const path of theirs) {
        chmodSync(path, 0o755);
        chownSync(path, 65_534, 65_534);
      }

      await start();

      expect(theirs.map((path) => statSync(path).mode & 0o777)).to.deep.equal([0o755, 0o755, 0o755]);
    });

    it('refuses a directory that a living process has, in one sentence', async () => {
      const store = await start();

      const error = await errorOf(start());

      expect(error.message).to.equal(
        `The store in ${world.dir} is in use by process ${process.pid}. Stop that process first.`,
      );
      expect(await connect(store).db('x').command({ ping: 1 })).to.include({ ok: 1 });
    });

    it('takes over from a process that is gone, and leaves no lock behind', async () => {
      const gone = spawn(process.execPath, ['-e', '']);
      await new Promise((resolve) => gone.once('exit', resolve));
      mkdirSync(world.dir, { recursive: true });
      for (const content of [
        JSON.stringify({ ...thisProcess(), pid: gone.pid, startedAt: '1' }),
        JSON.stringify({ ...thisProcess(), startedAt: '1' }), // the pid now belongs to another program: this test
        JSON.stringify({ ...thisProcess(), machine: thisProcess().machine.replace(/@.*/, '@before-the-power-cut') }),
        'damaged',
        '',
      ]) {
        writeFileSync(join(world.dir, 'store.lock'), content);

        const store = await start();

        expect(JSON.parse(readFileSync(join(world.dir, 'store.lock'), 'utf8'))).to.include({ pid: process.pid });
        await stop(store);
        expect(() => statSync(join(world.dir, 'store.lock'))).to.throw('ENOENT');
      }
    });

    it('refuses a directory that a process of another container has, which bears the same host name', async () => {
      const store = await start();
      // The other container's lock, from its own pid namespace, so that its pid is invisible here.
      const there = thisProcess().machine.replace(/#.*/, '#1');
      writeFileSync(join(world.dir, 'store.lock'), JSON.stringify({ machine: there, pid: 1_234_567, startedAt: '1' }));

      const error = await errorOf(start());

      expect(error.message).to.match(/ is in use by process 1234567\. Stop that process first\.$/);
      expect(await connect(store).db('x').command({ ping: 1 })).to.include({ ok: 1 });
    });

    it('is had by one of several that start at the same moment', async () => {
      const starting = await Promise.allSettled([start(), start(), start(), start()]);

      expect(starting.filter(({ status }) => status === 'fulfilled')).to.have.lengthOf(1);
      expect(readdirSync(world.dir).filter((name) => name.includes('store.lock'))).to.have.lengthOf(2);
    });

    it('believes a lock of another machine', async () => {
      writeFileSync(join(world.dir, 'store.lock'), JSON.stringify({ machine: 'elsewhere', pid: 1, startedAt: '1' }));

      expect((await errorOf(start())).message).to.match(/in use by process 1/);
    });

    it('listens inside a directory with a long name, and leaves nothing elsewhere', async () => {
      const long = join(world.dir, 'x'.repeat(120));
      const elsewhere = readdirSync(tmpdir()).filter((name) => name.endsWith('.sock'));

      const store = await start({ dir: long });

      expect(await connect(store).db('x').command({ ping: 1 })).to.include({ ok: 1 });
      expect(readdirSync(long)).to.include('store.sock');
      expect(Buffer.byteLength(decodeURIComponent(store.uri))).to.be.lessThan(120);
      expect((await errorOf(start({ dir: long }))).message).to.match(/in use by process/);
      expect(readdirSync(tmpdir()).filter((name) => name.endsWith('.sock'))).to.deep.equal(elsewhere);
    });
  });
}
