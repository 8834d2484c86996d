import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { BadCarrier } from '../../../shared/carriers/carrier-form.ts';
import {
  CarrierExists,
  createCarrier,
  listCarriers,
  NoSuchCarrier,
  setCarrierStatus,
  updateCarrier,
} from '../../../shared/carriers/store.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createSecretBox } from '../../../shared/runtime/secret-box.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const box = createSecretBox(randomBytes(32));
const GOOD = {
  _id: 'airtel-1',
  name: 'Airtel',
  host: 'smpp.example',
  port: 2775,
  systemId: 'acme',
  password: 'a pass word',
};

describe('carriers', () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(() => store.db.collection('carriers').deleteMany({}));

  const create = (overrides: object = {}) => createCarrier(store.db, systemClock, box, { ...GOOD, ...overrides });
  const failure = (act: Promise<unknown>): Promise<unknown> =>
    act.then(() => undefined).catch((error: unknown) => error);

  it('a new carrier has defaults, and its password is stored sealed', async () => {
    const carrier = await create();

    expect(carrier).to.include({ status: 'active', bindKind: 'transceiver', binds: 1, windowSize: 50, perSecond: 0 });
    expect(carrier.password).not.to.include(GOOD.password);
    expect(box.open(carrier.password)).to.equal(GOOD.password);
    expect(await listCarriers(store.db)).to.deep.equal([carrier]);
  });

  it('the same id twice is refused', async () => {
    await create();

    expect(await failure(create())).to.be.instanceOf(CarrierExists);
  });

  it('all that is wrong is told at once', async () => {
    const error = await failure(create({ _id: 'Ä', port: 0, windowSize: 0, systemId: 'sixteen-letters!', paths: [] }));

    expect(error).to.be.instanceOf(BadCarrier);
    expect(error instanceof BadCarrier && error.problems.map((problem) => problem.split(':')[0])).to.deep.equal([
      'id',
      'port',
      'systemId',
      'windowSize',
      'paths',
    ]);
  });

  it('a change keeps the password unless it has one', async () => {
    const before = await create();

    const moved = await updateCarrier(store.db, box, GOOD._id, { port: 2776 });
    const renewed = await updateCarrier(store.db, box, GOOD._id, { password: 'new' });

    expect(moved).to.deep.equal({ ...before, port: 2776 });
    expect(box.open(renewed.password)).to.equal('new');
  });

  it('a bad change is refused and changes nothing', async () => {
    const before = await create();

    expect(await failure(updateCarrier(store.db, box, GOOD._id, { port: 70_000 }))).to.be.instanceOf(BadCarrier);
    expect(await listCarriers(store.db)).to.deep.equal([before]);
  });

  it('is paused and resumed', async () => {
    await create();

    await setCarrierStatus(store.db, GOOD._id, 'paused');

    expect((await listCarriers(store.db))[0]?.status).to.equal('paused');
  });

  it('says when there is no such carrier', async () => {
    expect(await failure(setCarrierStatus(store.db, 'none', 'paused'))).to.be.instanceOf(NoSuchCarrier);
    expect(await failure(updateCarrier(store.db, box, 'none', {}))).to.be.instanceOf(NoSuchCarrier);
  });
});
