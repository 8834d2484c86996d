import { changeAudited } from '../../../gateway/http/audited.ts';
import type { Requester } from '../../../gateway/http/context.ts';
import type { AuditDocument } from '../../../shared/people/audit.ts';
import { TEST_CONFIG } from '../../support/gateway.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { useStore } from '../../support/store.ts';

class Refused extends Error {}
const NUMBER = { number: '56161' };

describe('changes that are audited', () => {
  const store = useStore();
  beforeEach(() => entries().deleteMany({}));

  const clock = new ManualClock(new Date('2026-11-21T10:00:00Z'));
  const requester: Requester = {
    ...{ who: { kind: 'key', id: 'k1' }, account: undefined, scopes: ['admin:support'] },
    ...{ address: '127.0.0.1', perMinute: 60, makers: [], caps: [] },
  };
  const entries = () => store.db.collection<AuditDocument>('audit');
  const stored = () =>
    entries()
      .find({}, { projection: { _id: 0, outcome: 1, after: 1, times: 1 } })
      .toArray();
  const change = (make: () => Promise<object>) =>
    changeAudited({ db: store.db, clock, config: TEST_CONFIG }, requester, {
      ...{ action: 'number.add', subject: { kind: 'number', id: '56161' }, make },
      read: async () => undefined,
      madeOf: (made) => made,
      isRefusal: (error) => error instanceof Refused,
    }).catch((error: unknown) => expect(error).to.be.instanceOf(Refused));
  const refused = async () => {
    throw new Refused();
  };

  it('one that is refused leaves no entry', async () => {
    await change(refused);

    expect(await stored()).to.deep.equal([]);
  });

  it('one that is refused within the minute of one that was made leaves that one done', async () => {
    await change(async () => NUMBER);
    await change(refused);
    await change(refused);

    expect(await stored()).to.deep.equal([{ outcome: 'done', after: NUMBER, times: 1 }]);
  });

  it('one that is refused while another one is under way says nothing of that', async () => {
    await change(async () => {
      await change(refused);
      expect(await stored()).to.deep.equal([{ outcome: 'begun', times: 1 }]);
      return NUMBER;
    });

    expect(await stored()).to.deep.equal([{ outcome: 'done', after: NUMBER, times: 1 }]);
  });
});
