import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Lease } from '../../../../shared/platform/leases/lease.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import {
  identityText,
  isAlive,
  isGone,
  parseIdentity,
  thisProcess,
} from '../../../../shared/platform/runtime/process-identity.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { useStore } from '../../../support/store.ts';

describe('leases', () => {
  const store = useStore();

  const elsewhere = { machine: 'other@boot', pid: 7, startedAt: '1' };
  const lease = (
    name: string,
    options: { ttlMs?: number; identity?: typeof elsewhere; clock?: ManualClock } = {},
  ): Lease => new Lease({ name, db: store.db, clock: systemClock, ...options });

  it('has one holder; a renewal keeps the epoch, the next holder gets a higher one', async () => {
    const [mine, other] = [lease('a'), lease('a', { identity: elsewhere })];

    expect([await mine.keep(), await other.keep(), await mine.keep()]).to.deep.equal([true, false, true]);
    expect(mine.epoch).to.equal(1);
    await mine.release();
    expect([await other.keep(), await mine.keep()]).to.deep.equal([true, false]);
    expect([other.epoch, mine.held]).to.deep.equal([2, false]);
  });

  it('several of one holder are renewed together, unless one of them was taken', async () => {
    const clock = new ManualClock();
    const [one, two] = [lease('f1', { clock }), lease('f2', { clock })];
    await Promise.all([one.keep(), two.keep()]);
    clock.turn(10_000);

    expect(await Lease.renew([one, two])).to.equal(true);
    clock.turn(10_000);
    expect([one.held, two.held, one.epoch]).to.deep.equal([true, true, 1]);

    await store.db.collection('leases').updateOne({ _id: 'f2' as never }, { $set: { until: new Date(0) } });
    await lease('f2', { identity: elsewhere }).keep();

    expect(await Lease.renew([one, two])).to.equal(false);
    expect(await two.keep()).to.equal(false);
  });

  it('renewing together gives nothing back to one that ran out', async () => {
    const clock = new ManualClock();
    const [one, two] = [lease('g1', { clock }), lease('g2', { clock })];
    await one.keep();

    expect(await Lease.renew([one, two])).to.equal(false);
    expect(two.held).to.equal(false);
    expect(await Lease.renew([])).to.equal(false);
  });

  it('goes to exactly one of many that ask at once', async () => {
    const rivals = Array.from({ length: 8 }, (_, i) =>
      lease('b', { identity: { ...elsewhere, machine: `vm${i}@boot` } }),
    );

    const held = await Promise.all(rivals.map((rival) => rival.keep()));

    expect(held.filter(Boolean)).to.have.lengthOf(1);
  });

  it('stops being held by its own clock before the store gives it away', async () => {
    const clock = new ManualClock();
    const mine = lease('c', { clock, ttlMs: 15_000 });
    await mine.keep();

    clock.turn(11_999);
    expect(mine.held).to.equal(true);
    clock.turn(1);
    expect(mine.held).to.equal(false);
  });

  it('is no longer held when the machine was suspended', async () => {
    const clock = new ManualClock();
    const mine = lease('s', { clock, ttlMs: 15_000 });
    await mine.keep();

    clock.suspend(12_000);

    expect([mine.held, mine.due]).to.deep.equal([false, true]);
    expect(await mine.keep()).to.equal(true);
    expect([mine.held, mine.due, mine.epoch]).to.deep.equal([true, false, 1]);
  });

  it('is taken by another when it has run out', async () => {
    const [frozen, taker] = [lease('d', { ttlMs: 300 }), lease('d', { identity: elsewhere })];
    await frozen.keep();

    await eventually(() => taker.keep(), 'the lease runs out');

    expect(taker.epoch).to.equal(2);
    expect(await frozen.keep()).to.equal(false);
  });

  it('that has run out while the store was away is renewed by its holder, however often another looks first', async () => {
    const [mine, other] = [lease('h'), lease('h', { identity: elsewhere })];
    expect([await mine.keep(), await other.keep()]).to.deep.equal([true, false]);
    const past = new Date(Date.now() - 60_000);
    await store.db.collection('leases').updateOne({ _id: 'h' as never }, { $set: { until: past } });

    expect([await other.keep(), await other.keep(), await mine.keep()]).to.deep.equal([false, false, true]);
    expect(mine.epoch).to.equal(1);
  });

  it('is taken by another only when it was looked at without a break', async () => {
    const clock = new ManualClock();
    const other = lease('i', { identity: elsewhere, clock });
    await lease('i').keep();
    const past = new Date(Date.now() - 60_000);
    await store.db.collection('leases').updateOne({ _id: 'i' as never }, { $set: { until: past } });
    const looks: boolean[] = [];
    for (const ms of [0, 5_000, 7_600, 4_000, 3_500]) {
      clock.turn(ms);
      looks.push(await other.keep());
    }

    // 5 s of watching are too short. After a break of 7.6 s the time starts over, and 7.5 s (4 and 3.5) are enough.
    expect(looks).to.deep.equal([false, false, false, false, true]);
  });

  it('is taken when it was not renewed for a whole TTL, also when the time of the store went back meanwhile', async () => {
    const clock = new ManualClock();
    const other = lease('j', { identity: elsewhere, clock });
    await lease('j').keep();
    const anHourAhead = new Date(Date.now() + 3_600_000);
    await store.db.collection('leases').updateOne({ _id: 'j' as never }, { $set: { until: anHourAhead } });
    const looks: boolean[] = [];
    for (const ms of [0, 7_000, 7_000, 999, 1]) {
      clock.turn(ms);
      looks.push(await other.keep());
    }

    expect(looks).to.deep.equal([false, false, false, false, true]);
    expect(other.epoch).to.equal(2);
  });

  it('is taken at once when its holder on this machine is gone', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(child, 'spawn');
    const { machine } = thisProcess();
    const pid = child.pid ?? 0;
    const startedAt = startOf(pid);
    const theirs = lease('e', { identity: { machine, pid, startedAt } });
    await theirs.keep();
    const mine = lease('e');
    expect(await mine.keep(), 'the holder lives').to.equal(false);

    child.kill('SIGKILL');
    await once(child, 'exit');

    expect(await mine.keep()).to.equal(true);
    expect(mine.epoch).to.equal(2);
  });

  it('keeps a holder whose process id was given to another program from counting as alive', () => {
    const me = thisProcess();

    expect(isGone(me)).to.equal(false);
    expect(isGone({ ...me, startedAt: '1' })).to.equal(true);
    expect(isGone({ ...me, startedAt: '1', machine: 'other' })).to.equal(false);
    // Another container with the same name on this host: its processes are invisible from here.
    const elsewhere = { ...me, startedAt: '1', machine: me.machine.replace(/#.*/, '#1') };
    expect(isGone(elsewhere)).to.equal(false);
    expect(isAlive(me)).to.equal(true);
    expect(isAlive({ ...me, startedAt: '1' })).to.equal(false);
    // A process from before this machine's restart.
    const earlier = { ...me, machine: me.machine.replace(/@[^#]*/, '@earlier') };
    expect(isAlive(earlier)).to.equal(false);
    expect(isGone(earlier), 'another machine may bear the name').to.equal(false);
    expect(parseIdentity(identityText(me))).to.deep.equal(me);
  });
});

/** The start time that a process finds of itself (proc(5), field 22). */
function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
