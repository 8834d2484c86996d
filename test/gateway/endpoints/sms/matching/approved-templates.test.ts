import { ApprovedTemplates } from '../../../../../gateway/endpoints/sms/matching/approved-templates.ts';
import { matchTemplate } from '../../../../../gateway/endpoints/sms/matching/match.ts';
import { connectStore } from '../../../../../shared/platform/mongo/connect.ts';
import { systemClock } from '../../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../../shared/platform/runtime/ids.ts';
import { importTemplates } from '../../../../../shared/templates/sms/import-csv.ts';
import { createTemplate, decideTemplate } from '../../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../../shared/templates/sms/make.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { useStore } from '../../../../support/store.ts';

const A = '1107160000000000001';
const FRESH_MS = 2_000;

describe('templates/approved-templates', () => {
  const store = useStore();
  let account: AccountId;
  let clock: ManualClock;
  let approved: ApprovedTemplates;
  beforeEach(() => {
    account = newId('acc');
    clock = new ManualClock();
    approved = new ApprovedTemplates({ db: store.db, clock, freshMs: FRESH_MS });
  });

  const matched = async (text: string) =>
    matchTemplate(await approved.ofSender({ _id: account }, 'HARKRA', 'transactional'), text)?.dltId;

  it('matches by sender and route', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A }));

    expect(await matched('Hi you')).to.equal(A);
    expect((await approved.ofSender({ _id: account }, 'OTHERS', 'transactional')).templates).to.deep.equal([]);
    expect((await approved.ofSender({ _id: account }, 'HARKRA', 'promotional')).templates).to.deep.equal([]);
    expect((await approved.ofSender({ _id: newId('acc') }, 'HARKRA', 'transactional')).templates).to.deep.equal([]);
    expect((await approved.ofAccount({ _id: account })).templates.map((template) => template.dltId)).to.deep.equal([A]);
  });

  it('believes what it read until it is no longer fresh, then follows approval and rejection', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A, status: 'submitted' }));
    expect(await matched('Hi you')).to.equal(undefined);

    await decideTemplate(store.db, systemClock, account, A, 'approved');
    clock.turn(FRESH_MS - 1);
    expect(await matched('Hi you')).to.equal(undefined);
    clock.turn(1);
    expect(await matched('Hi you')).to.equal(A);

    await decideTemplate(store.db, systemClock, account, A, 'rejected');
    clock.turn(FRESH_MS);
    expect(await matched('Hi you')).to.equal(undefined);
  });

  it('keeps the same index while the account changes nothing, and reads again after a minute all the same', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A }));
    const index = await approved.ofSender({ _id: account }, 'HARKRA', 'transactional');

    clock.turn(FRESH_MS);
    expect(await approved.ofSender({ _id: account }, 'HARKRA', 'transactional')).to.equal(index);
    clock.turn(60_000);
    expect(await approved.ofSender({ _id: account }, 'HARKRA', 'transactional')).to.not.equal(index);
  });

  it('reads once for many who ask at the same time', async () => {
    await importTemplates(
      store.db,
      systemClock,
      account,
      Array.from({ length: 700 }, (_, i) =>
        makeTemplate({ dltId: String(1_000_000_000 + i), content: `Hi {#var#} ${i}` }),
      ),
    );

    const indices = await Promise.all(
      Array.from({ length: 20 }, () => approved.ofSender({ _id: account }, 'HARKRA', 'transactional')),
    );

    expect(new Set(indices).size).to.equal(1);
    expect(indices[0]?.templates).to.have.length(700);
    expect(await matched('Hi you 699')).to.equal('1000000699');
  });

  it('tells a failed reading to all who wait, and does not keep it', async () => {
    const other = await connectStore({ mongodbUri: store.uri, dataDir: '', mongodbDatabase: store.db.databaseName });
    const cutOff = new ApprovedTemplates({ db: other.db, clock, freshMs: FRESH_MS });
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A }));
    await cutOff.ofAccount({ _id: account });
    await other.close();
    const ask = () => cutOff.ofSender({ _id: account }, 'HARKRA', 'transactional').catch((error: unknown) => error);

    for (const answer of [...(await Promise.all([ask(), ask()])), await ask()]) expect(answer).to.be.instanceOf(Error);

    expect((await cutOff.ofAccount({ _id: account })).templates).to.have.length(1);
  });
});
