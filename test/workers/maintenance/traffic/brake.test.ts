import { HOUR_MS, hourName } from '../../../../shared/messages/statistics.ts';
import { holdCollection, readHolds, releaseHold } from '../../../../shared/messages/traffic/hold.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { findAccount, updateAccount } from '../../../../shared/money/accounts/store.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { HourCounter } from '../../../../workers/maintenance/statistics/count-hours.ts';
import { Brake } from '../../../../workers/maintenance/traffic/brake.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const NOW = new Date('2026-11-28T10:40:00Z');
const DAY_MS = 24 * HOUR_MS;

describe('maintenance/traffic: the brake', () => {
  const store = useStore();
  const clock = new ManualClock(NOW);
  const run = () => new Brake({ db: store.db, clock, log: silentLog }).run(() => true);

  /** An account that has sent to India for a week, and now sends 50 to Azerbaijan, of which none arrives. */
  const pumped = async (brake: 'watch' | 'hold'): Promise<AccountId> => {
    const account = await makeAccount(store.db, 10);
    await updateAccount(store.db, account, { brake });
    const weeks = Array.from({ length: 7 }, (_, day) => ({
      _id: `${account}:${hourName(new Date(NOW.getTime() - (day + 1) * DAY_MS))}`,
      account,
      prefixes: [{ prefix: '91987', messages: 100, ripe: 100, delivered: 95 }],
      expiresAt: new Date(NOW.getTime() + DAY_MS),
    }));
    await store.db.collection<{ _id: string }>('prefix_hours').insertMany(weeks);
    const message = (to: string, state: string) => ({
      ...{ _id: newId('msg', NOW.getTime() - 30 * 60_000), channel: 'sms', account, to, state, v: 0, history: [] },
    });
    await store.db
      .collection<{ _id: string }>('messages')
      .insertMany([
        ...Array.from({ length: 50 }, () => message('994771234567', 'sent')),
        ...Array.from({ length: 40 }, () => message('919876543210', 'delivered')),
      ]);
    return account;
  };
  const count = () => {
    clock.turn(20_000); // the running hour is counted every 15 seconds
    return new HourCounter({ db: store.db, clock, messageDays: 30, held: () => true }).run();
  };
  const heldOf = async (account: AccountId): Promise<AccountDocument['heldPrefixes']> =>
    (await findAccount(store.db, account))?.heldPrefixes;

  it('holds what looks like fraud, until a person releases it, who is trusted then', async () => {
    const account = await pumped('hold');
    await count();
    await run();

    const [hold, ...others] = await readHolds(store.db, [account]);
    expect(others).to.deep.equal([]);
    expect(hold).to.include({ prefix: '994771', state: 'held' });
    expect(hold?.seen).to.include({ messages: 50, delivered: 0, usualMessages: 0, usualDelivered: 0.95 });
    expect(await heldOf(account)).to.deep.equal(['994771']);

    await releaseHold(store.db, account, '994771', { at: NOW, by: 'user usr_1', reason: 'our launch' });
    expect(await heldOf(account)).to.deep.equal([]);
    await run();
    expect((await readHolds(store.db, [account]))[0]).to.include({ state: 'released' });
    expect(await heldOf(account)).to.deep.equal([]);
  });

  it('holds a prefix whose messages arrive, and whose codes nobody gives back', async () => {
    const account = await makeAccount(store.db, 10);
    await updateAccount(store.db, account, { brake: 'hold' });
    await store.db.collection<{ _id: string }>('prefix_hours').insertMany(
      Array.from({ length: 7 }, (_, day) => ({
        _id: `${account}:${hourName(new Date(NOW.getTime() - (day + 1) * DAY_MS))}`,
        account,
        prefixes: [{ prefix: '91987', messages: 100, ripe: 100, delivered: 95, asked: 100, approved: 80 }],
        expiresAt: new Date(NOW.getTime() + DAY_MS),
      })),
    );
    const atMs = NOW.getTime() - 30 * 60_000;
    const messages = Array.from({ length: 50 }, () => ({
      ...{
        _id: newId('msg', atMs),
        channel: 'sms',
        account,
        to: '994771234567',
        state: 'delivered',
        v: 0,
        history: [],
      },
    }));
    await store.db.collection<{ _id: string }>('messages').insertMany(messages);
    const asked = (state: string) => ({
      ...{ _id: newId('vrf', atMs), account, to: '994771234567', state, expiresAt: new Date(atMs + 600_000) },
    });
    await store.db
      .collection<{ _id: string }>('verifications')
      .insertMany([asked('approved'), ...Array.from({ length: 49 }, () => asked('pending'))]);
    await count();
    await run();
    const [hold] = await readHolds(store.db, [account]);
    expect(hold).to.include({ prefix: '994771', state: 'held' });
    expect(hold?.seen).to.include({ delivered: 1, converted: 0.02, usualConverted: 0.8 });
    expect(hold?.unannounced?.[0]?.told).to.include({ converted: 0.02, usual_converted: 0.8 });
  });

  it('only watches where that is what is wanted, and holds when the account wants more', async () => {
    const account = await pumped('watch');
    await count();
    await run();
    expect((await readHolds(store.db, [account]))[0]).to.include({ state: 'watched' });
    expect(await heldOf(account)).to.equal(undefined);
    // Else the prefix would be trusted before the account wants it held.
    const released = { at: NOW, by: 'user usr_1', reason: 'our launch' };
    expect(await releaseHold(store.db, account, '994771', released)).to.equal(undefined);

    await updateAccount(store.db, account, { brake: 'hold' });
    await run();
    const [hold] = await readHolds(store.db, [account]);
    expect(hold).to.include({ state: 'held' });
    expect(hold?.unannounced?.map(({ event }) => event)).to.deep.equal(['traffic.suspicious', 'traffic.held']);
    expect(hold).not.to.have.property('expiresAt');
    expect(await heldOf(account)).to.deep.equal(['994771']);
  });

  it("makes the account's list agree with what was decided, whatever a killed process has left", async () => {
    const account = await pumped('hold');
    await count();
    await run();
    await holdCollection(store.db).updateOne({ account }, { $set: { state: 'released', expiresAt: NOW } });
    await run();
    expect(await heldOf(account)).to.deep.equal([]);
  });
});
