import { expect } from 'chai';
import {
  createAccount,
  findAccount,
  listAccounts,
  readBalance,
  setAccountStatus,
} from '../../../../shared/money/accounts/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { useStore } from '../../../support/store.ts';

const NEW = { name: 'Shop', currency: 'INR', expiryDate: '2027-11-21', senders: 'any' } as const;

describe('accounts store', () => {
  const store = useStore();

  it('makes an active account without credits', async () => {
    const created = await createAccount(store.db, systemClock, NEW);

    expect(created).to.include({ ...NEW, status: 'active', balance: 0, seq: 0, credits: 0 });
    expect(await findAccount(store.db, created._id)).to.deep.equal(created);
    expect(await readBalance(store.db, created._id)).to.deep.equal({
      balance: 0,
      currency: 'INR',
      expiryDate: '2027-11-21',
    });
  });

  it('knows nothing of an account that is not there', async () => {
    expect(await findAccount(store.db, newId('acc'))).to.equal(undefined);
    expect(await readBalance(store.db, newId('acc'))).to.equal(undefined);
    expect(await setAccountStatus(store.db, newId('acc'), 'suspended')).to.equal(false);
  });

  it('lists accounts oldest first', async () => {
    const a = await createAccount(store.db, systemClock, NEW);
    const b = await createAccount(store.db, systemClock, NEW);

    const ids = (await listAccounts(store.db)).map((account) => account._id);

    expect(ids.indexOf(a._id)).to.be.lessThan(ids.indexOf(b._id)).and.at.least(0);
  });

  it('suspends and reactivates', async () => {
    const { _id } = await createAccount(store.db, systemClock, NEW);

    expect(await setAccountStatus(store.db, _id, 'suspended')).to.equal(true);
    expect((await findAccount(store.db, _id))?.status).to.equal('suspended');
    expect(await setAccountStatus(store.db, _id, 'active')).to.equal(true);
    expect((await findAccount(store.db, _id))?.status).to.equal('active');
  });
});
