import { MongoClient } from 'mongodb';
import request from 'supertest';
import { changeOptOuts } from '../../../../shared/carriers/opt-outs/store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey, openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';

const OUT = '919876543210';
const OTHER = '919876543211';
const MESSAGE = { to: OUT, message: 'Sale today', sender: 'HARKRA', route: 'promotional' };
const BULK = { ...MESSAGE, to: [OTHER, OUT, OTHER, OUT] };
const LATER = { schedule_time: new Date(Date.now() + 3_600_000).toISOString() };

describe('sends to customers who opted out', () => {
  const site = accountAtGateway(10);
  const post = (path: string, body: object): request.Test =>
    request(site.url).post(path).set('Authorization', `Bearer ${site.key}`).send(body);
  const optOut = (scope = '*', customer = OUT) =>
    changeOptOuts(site.db, [
      { account: site.account, customer, scope, kind: 'out', at: new Date(), source: 'inbound', word: 'stop' },
    ]);
  const setExempt = (optOutExempt: NonNullable<AccountDocument['optOutExempt']>) =>
    site.db.collection<AccountDocument>('accounts').updateOne({ _id: site.account }, { $set: { optOutExempt } });
  const expectBalance = async (balance: number) =>
    expect(await verifyLedger(site.db, site.account)).to.deep.include({ balance, problems: [] });

  describe('403', () => {
    it('a single message, a scheduled one and a dry run: nothing is stored or charged', async () => {
      await optOut();

      expectFieldRefusal(await post('/v2/send', MESSAGE), 'recipient_opted_out', 'to');
      expectProblem(await post('/v2/send', { ...MESSAGE, dry_run: true }), 'recipient_opted_out');
      expectProblem(await post('/v2/schedule', { ...MESSAGE, ...LATER }), 'recipient_opted_out');

      expect((await post('/v2/send', { ...MESSAGE, to: OTHER })).status).to.equal(200);
      await expectBalance(9);
    });

    it('a batch: each entry is named, and nothing is charged', async () => {
      await optOut();

      const refused = await post('/v2/send-bulk', BULK);
      const inObjects = { ...MESSAGE, to: undefined, recipients: [{ to: OUT }, { to: OTHER }] };

      expectProblem(refused, 'recipient_opted_out');
      expect(refused.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal(['to[1]', 'to[3]']);
      expect(refused.body.errors_count).to.equal(2);
      const named = await post('/v2/send-bulk', { ...inObjects, dry_run: true });
      expect(named.body.errors[0].field).to.equal('recipients[0].to');
      expectProblem(await post('/v2/schedule', { ...BULK, ...LATER }), 'recipient_opted_out');
      await expectBalance(10);
    });

    it('a batch that would have nobody left', async () => {
      await optOut();

      const refused = await post('/v2/send-bulk', { ...BULK, to: [OUT], skip_opted_out: true });

      expectProblem(refused, 'recipient_opted_out');
      expect(refused.body.detail).not.to.include('skip_opted_out');
      await expectBalance(10);
    });

    it('from the number that the customer wrote to, and from a name; not from another number', async () => {
      await optOut('56767');

      expectProblem(await post('/v2/send', { ...MESSAGE, sender: '56767' }), 'recipient_opted_out');
      expectProblem(await post('/v2/send', MESSAGE), 'recipient_opted_out');
      expect((await post('/v2/send', { ...MESSAGE, sender: '56768' })).status).to.equal(200);
    });
  });

  describe('200', () => {
    it('skips them when asked: not billed, and counted in answer, dry run and progress', async () => {
      await optOut();
      const asked = { ...BULK, skip_opted_out: true, dedupe: true };

      const dry = await post('/v2/send-bulk', { ...asked, dry_run: true });
      const { body } = await post('/v2/send-bulk', asked);

      expect(dry.body).to.include({ total: 1, duplicates: 1, skipped: 2, credits_required: 1 });
      expect(body).to.include({ status: 'success', total: 1, duplicates: 1, skipped: 2, credits_used: 1 });
      const shown = await request(site.url)
        .get(`/v2/batches/${body.batch_id}`)
        .set('Authorization', `Bearer ${site.key}`);
      expect(shown.body).to.include({ total: 1, skipped: 2 });
      await expectBalance(9);
    });

    it('counts none where nobody opted out', async () => {
      const { body } = await post('/v2/send-bulk', { ...BULK, skip_opted_out: true });

      expect(body).to.include({ total: 4, skipped: 0 });
    });

    it('schedules the others', async () => {
      await optOut();

      expect((await post('/v2/schedule', { ...BULK, ...LATER, skip_opted_out: true })).status).to.equal(200);
      await expectBalance(8);
    });

    it('what the account exempts: one-time passwords', async () => {
      await optOut();
      await setExempt(['otp']);
      const otp = { ...MESSAGE, route: 'transactional', priority: 'otp' };

      const key = await makeKey(site.db, site.account, ['send', 'otp']);
      const sent = await request(site.url).post('/v2/send').set('Authorization', `Bearer ${key}`).send(otp);
      expect(sent.status).to.equal(200);
      expectProblem(await post('/v2/send', { ...otp, priority: 'normal' }), 'recipient_opted_out');
    });

    it('what the account exempts: the transactional route', async () => {
      await optOut();
      await setExempt(['transactional']);

      expect((await post('/v2/send', { ...MESSAGE, route: 'transactional' })).status).to.equal(200);
      expectProblem(await post('/v2/send', MESSAGE), 'recipient_opted_out');
    });
  });

  it('cost no command where nobody ever opted out, and one query elsewhere', async () => {
    const client = new MongoClient(site.storeUri, { monitorCommands: true });
    let queries = 0;
    client.on('commandStarted', ({ command }) => {
      if (command.find === 'opt_outs') queries += 1;
    });
    const gateway = await openGateway(client.db(site.db.databaseName));
    const asked = async (optedOut: boolean): Promise<number> => {
      const account = await makeAccount(site.db, 10, optedOut ? { optOuts: true } : {});
      const key = await makeKey(site.db, account);
      const send = () =>
        request(gateway.url).post('/v2/send').set('Authorization', `Bearer ${key}`).send(MESSAGE).expect(200);
      const before = queries;
      await send();
      return queries - before;
    };

    const [without, having] = [await asked(false), await asked(true)];

    expect([without, having]).to.deep.equal([0, 1]);
    await gateway.close();
    await client.close();
  });
});
