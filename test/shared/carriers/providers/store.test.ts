import { BadProvider, PROVIDER_DEFAULTS } from '../../../../shared/carriers/providers/provider.ts';
import {
  findProvider,
  listProviders,
  NumberTaken,
  type ProviderChange,
  pauseProvider,
  providersByCallback,
  resumeProvider,
  setProvider,
  stopProvider,
  TokenNeeded,
} from '../../../../shared/carriers/providers/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { NUMBER, PROVIDER, TEST_BOX } from '../../../support/chatapp.ts';
import { useStore } from '../../../support/store.ts';

describe('providers', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(async () => {
    account = newId('acc');
    await store.db.collection('providers').deleteMany({});
  });

  const set = (change: ProviderChange) => setProvider(store.db, systemClock, TEST_BOX, account, NUMBER, change);
  async function problemsOf(change: ProviderChange): Promise<readonly string[]> {
    try {
      await set(change);
    } catch (error) {
      if (error instanceof BadProvider) return error.problems;
      throw error;
    }
    return [];
  }

  it('the first time gives the account a number, with defaults, sealed secrets and a callback of its own', async () => {
    const { provider, created, verifyToken } = await set(PROVIDER);

    expect(created).to.equal(true);
    expect(await findProvider(store.db, NUMBER)).to.deep.equal(provider);
    expect(provider).to.include({ ...PROVIDER_DEFAULTS, baseUrl: PROVIDER.baseUrl, _id: NUMBER, account });
    expect(TEST_BOX.open(provider.token, ['providers', NUMBER, 'token'])).to.equal(PROVIDER.token);
    expect(TEST_BOX.open(provider.appSecret, ['providers', NUMBER, 'appSecret'])).to.equal(PROVIDER.appSecret);
    expect(TEST_BOX.open(provider.verifyToken, ['providers', NUMBER, 'verifyToken'])).to.equal(verifyToken);
    expect(verifyToken).to.match(/^[\w-]{32}$/);
    expect(JSON.stringify(provider)).not.to.include(PROVIDER.token);
    expect(await providersByCallback(store.db, [provider.callback])).to.deep.equal([provider]);
  });

  it('later changes what is named and nothing else', async () => {
    const first = (await set(PROVIDER)).provider;

    const { provider, created, verifyToken } = await set({ perSecond: 20, token: 'EAAnew' });

    expect({ created, verifyToken }).to.deep.equal({ created: false, verifyToken: undefined });
    expect(TEST_BOX.open(provider.token, ['providers', NUMBER, 'token'])).to.equal('EAAnew');
    expect(provider).to.deep.equal({ ...first, perSecond: 20, token: provider.token });
    expect((await set({})).provider).to.deep.equal(provider);
  });

  it('the token goes to another base URL only when it is given again', async () => {
    const first = (await set(PROVIDER)).provider;
    const baseUrl = 'http://127.0.0.1:4999/v23.0';

    const refused = await set({ baseUrl, perSecond: 20 }).catch((error: unknown) => error);

    expect(refused).to.be.instanceOf(TokenNeeded);
    expect(await findProvider(store.db, NUMBER)).to.deep.equal(first);
    expect((await set({ baseUrl: first.baseUrl, perSecond: 20 })).provider).to.include({ perSecond: 20 });
    expect((await set({ baseUrl, token: 'EAAgiven' })).provider).to.include({ baseUrl });
  });

  it('is one, however many set it at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => set(PROVIDER)));

    expect(all.filter(({ created }) => created)).to.have.length(1);
    expect(new Set(all.map(({ provider }) => provider.callback)).size).to.equal(1);
  });

  it('belongs to one account, however many add it, or its id at the provider, at the same moment', async () => {
    const rivals = Array.from({ length: 8 }, (_, n) => ({
      of: newId('acc'),
      number: n < 4 ? NUMBER : `91800000000${n}`,
    }));

    const tries = await Promise.allSettled(
      rivals.map(({ of, number }) => setProvider(store.db, systemClock, TEST_BOX, of, number, PROVIDER)),
    );

    const [winner, ...others] = await listProviders(store.db);
    expect(others).to.deep.equal([]);
    expect(tries.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const one of tries) {
      if (one.status === 'rejected')
        expect(one.reason).to.be.instanceOf(NumberTaken).and.include({ account: winner?.account });
    }
  });

  it('an account’s id is no number: it is refused with everything else that is wrong', async () => {
    const tried = setProvider(store.db, systemClock, TEST_BOX, account, account, { ...PROVIDER, perSecond: 0 });

    const refused = await tried.catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(BadProvider);
    expect(String(refused)).to.match(/number: 8 to 15 digits.* perSecond: /);
    expect(await listProviders(store.db)).to.deep.equal([]);
  });

  const bad: readonly [string, ProviderChange][] = [
    ['an address with a slash at its end', { baseUrl: 'https://graph.example/v23.0/' }],
    ['an address with a user', { baseUrl: 'https://user:pass@graph.example/v23.0' }],
    ['an address with a query', { baseUrl: 'https://graph.example/v23.0?x=1' }],
    ['an id that would change the path', { phoneNumberId: '../1055' }],
    ['a token with a line break', { token: 'EAA\nX: y' }],
    ['an empty secret', { appSecret: '' }],
    ['a rate of 1.5', { perSecond: 1.5 }],
    ['a window of nothing', { windowSize: 0 }],
  ];
  for (const [what, change] of bad) {
    it(`refuses ${what}, the first time and later`, async () => {
      const [field] = Object.keys(change);

      expect((await problemsOf({ ...PROVIDER, ...change })).map((one) => one.split(':')[0])).to.deep.equal([field]);
      await set(PROVIDER);
      expect((await problemsOf(change)).map((one) => one.split(':')[0])).to.deep.equal([field]);
    });
  }

  it('pause and resume: change the status, and setting it does not', async () => {
    expect(await pauseProvider(store.db, NUMBER)).to.equal(false);
    await set(PROVIDER);

    expect(await pauseProvider(store.db, NUMBER)).to.equal(true);
    expect((await set({ perSecond: 5 })).provider.status).to.equal('paused');
    expect(await resumeProvider(store.db, NUMBER)).to.equal(true);
    expect((await findProvider(store.db, NUMBER))?.status).to.equal('active');
  });

  it('stop: keeps the first reason until it is resumed, and tells one of many', async () => {
    await set(PROVIDER);

    const stopped = await Promise.all(['190: token', '368: policy'].map((why) => stopProvider(store.db, NUMBER, why)));

    expect(stopped.filter(Boolean)).to.have.length(1);
    const found = await findProvider(store.db, NUMBER);
    expect(found?.status).to.equal('paused');
    expect(found?.stoppedReason).to.equal(stopped[0] === true ? '190: token' : '368: policy');
    await resumeProvider(store.db, NUMBER);
    expect(await findProvider(store.db, NUMBER))
      .to.include({ status: 'active' })
      .and.not.have.property('stoppedReason');
    expect(await stopProvider(store.db, NUMBER, 'again')).to.equal(true);
  });
});
