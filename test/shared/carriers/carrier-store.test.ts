import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Db } from 'mongodb';
import {
  createCarrier,
  listCarriers,
  PasswordNeeded,
  setCarrierStatus,
  updateCarrier,
} from '../../../shared/carriers/carrier-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { boxOf } from '../../support/secret-box.ts';
import { useStore } from '../../support/store.ts';

const box = boxOf(randomBytes(32));
const GOOD = {
  _id: 'airtel-1',
  name: 'Airtel',
  host: 'smpp.example',
  port: 2775,
  systemId: 'acme',
  password: 'a pass word',
};

describe('carriers', () => {
  const store = useStore();
  beforeEach(() => store.db.collection('carriers').deleteMany({}));

  const create = (overrides: object = {}) => createCarrier(store.db, systemClock, box, { ...GOOD, ...overrides });
  const failure = (act: Promise<unknown>): Promise<unknown> =>
    act.then(() => undefined).catch((error: unknown) => error);

  it('a new carrier has defaults, and its password is stored sealed', async () => {
    const carrier = await create();

    expect(carrier).to.include({ status: 'active', bindKind: 'transceiver', binds: 1, windowSize: 50, perSecond: 0 });
    expect(carrier.password).not.to.include(GOOD.password);
    expect(box.open(carrier.password, ['carriers', GOOD._id, 'password'])).to.equal(GOOD.password);
    expect(await listCarriers(store.db)).to.deep.equal([carrier]);
  });

  it('a change keeps the password unless it has one', async () => {
    const before = await create();

    const widened = await updateCarrier(store.db, box, GOOD._id, { windowSize: 20 });
    const renewed = await updateCarrier(store.db, box, GOOD._id, { password: 'new' });

    expect(widened).to.deep.equal({ ...before, windowSize: 20 });
    expect(box.open(renewed.password, ['carriers', GOOD._id, 'password'])).to.equal('new');
  });

  describe('a change of where the password is sent needs the password', () => {
    const ELSEWHERE = { host: '127.0.0.1', port: 2776 };
    const LEADS = {
      host: { host: ELSEWHERE.host },
      port: { port: ELSEWHERE.port },
      systemId: { systemId: 'other' },
      tls: { tls: true },
      otherHosts: { links: { otherHosts: [ELSEWHERE] } },
      receiverHosts: { bindKind: 'pair', links: { receiverHosts: [ELSEWHERE] } },
      tlsCa: { trust: { tlsCa: readFileSync('test/fixtures/tls/client.pem', 'utf8') } },
      tlsHostName: { trust: { tlsHostName: 'unchecked' } },
    } as const;
    for (const [name, change] of Object.entries(LEADS)) {
      it(name, async () => {
        const before = await create();

        expect(await failure(updateCarrier(store.db, box, GOOD._id, change))).to.be.instanceOf(PasswordNeeded);
        expect(await listCarriers(store.db)).to.deep.equal([before]);
        const moved = await updateCarrier(store.db, box, GOOD._id, { ...change, password: 'given' });
        expect(box.open(moved.password, ['carriers', GOOD._id, 'password'])).to.equal('given');
        // The same values again lead it nowhere else.
        expect(await updateCarrier(store.db, box, GOOD._id, change)).to.deep.equal(moved);
      });
    }

    it('another setting of such a group does not, and the other hosts stay', async () => {
      await create({ links: { otherHosts: [ELSEWHERE] } });

      const { links } = await updateCarrier(store.db, box, GOOD._id, { links: { reconnectMs: 5 } });

      expect(links).to.deep.equal({ otherHosts: [ELSEWHERE], reconnectMs: 5 });
    });

    it('also when host and password change while it is judged', async () => {
      await create();
      const own = { host: 'own.example', password: 'own' };
      await updateCarrier(store.db, box, GOOD._id, own);
      // Somebody who entered another host and password repeats that host while the right ones are restored.
      const right = { host: GOOD.host, password: GOOD.password };
      const raced = beforeUpdate(store.db, () => updateCarrier(store.db, box, GOOD._id, right));

      expect(await failure(updateCarrier(raced, box, GOOD._id, { host: own.host }))).to.be.instanceOf(PasswordNeeded);
      expect((await listCarriers(store.db))[0]).to.include({ host: GOOD.host });
    });
  });

  it('says when there is no such carrier', async () => {
    expect(await failure(setCarrierStatus(store.db, 'none', 'paused'))).to.have.property('code', 'no_such_carrier');
    expect(await failure(updateCarrier(store.db, box, 'none', {}))).to.have.property('code', 'no_such_carrier');
  });
});

/** A connection whose first update of a document is delayed until after `meanwhile`. */
function beforeUpdate(db: Db, meanwhile: () => Promise<unknown>): Db {
  let done = false;
  const wrap = <T extends object>(
    target: T,
    name: string,
    call: (method: (...args: unknown[]) => unknown) => unknown,
  ): T =>
    new Proxy(target, {
      get(of, property) {
        const value: unknown = Reflect.get(of, property);
        if (typeof value !== 'function') return value;
        return property === name ? call(value.bind(of)) : value.bind(of);
      },
    });
  return wrap(
    db,
    'collection',
    (collection) => (name: string) =>
      wrap(Object(collection(name)), 'findOneAndUpdate', (update) => async (...args: unknown[]) => {
        if (!done) {
          done = true;
          await meanwhile();
        }
        return update(...args);
      }),
  );
}
