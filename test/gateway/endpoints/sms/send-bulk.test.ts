import type { BatchChunkDocument, BatchDocument } from '../../../../shared/messages/batch.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { setAccountStatus } from '../../../../shared/money/accounts/store.ts';
import { readStatement } from '../../../../shared/money/ledger/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId, BatchId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { ledgerBalanceOf } from '../../../support/balance.ts';
import { makeEntries } from '../../../support/batches.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';
import { smsWorld } from './world.ts';

const GOOD = {
  to: ['919876543210', '919876543211'],
  message: 'Sale today',
  sender: 'HARKRA',
  route: 'promotional',
};
const DLT_ID = '1107160000000012345';
/** A body without recipients and text. */
const BASE = { sender: GOOD.sender, route: GOOD.route };

function numbers(count: number): string[] {
  return makeEntries(count).map(({ to }) => to);
}

/** For the body of a `describe`. */
function bulkWorld() {
  const { store, send } = smsWorld('/v2/send-bulk');
  const caller = async (credits: number, overrides: Partial<AccountDocument> = {}) => {
    const account = await makeAccount(store.db, credits, overrides);
    return { account, key: await makeKey(store.db, account) };
  };
  return {
    store,
    send,
    caller,
    batches: () => store.db.collection<BatchDocument>('batches'),
    balanceOf: (account: AccountId) => ledgerBalanceOf(store.db, account),

    async withTemplate(credits: number) {
      const customer = await caller(credits);
      const template = makeTemplate({
        dltId: DLT_ID,
        content: 'Hi {#var#}, pay {#numeric#}',
        senders: ['HARKRA'],
        routes: ['transactional', 'promotional'],
      });
      await createTemplate(store.db, systemClock, customer.account, template);
      return customer;
    },
  };
}

describe('POST /v2/send-bulk', () => {
  const { store, send, caller, withTemplate, batches, balanceOf } = bulkWorld();
  const batchOf = (id: unknown) => batches().findOne({ _id: id as BatchId });
  const chunksOf = (id: string) =>
    store.db
      .collection<BatchChunkDocument>('batch_chunks')
      .find({ _id: { $gt: `${id}:` as BatchChunkDocument['_id'], $lt: `${id}:~` as BatchChunkDocument['_id'] } })
      .sort({ _id: 1 })
      .toArray();

  describe('200', () => {
    it('answers exactly the four fields, stores the batch paid and charges a credit for each recipient', async () => {
      const { account, key } = await caller(10);

      const answer = await send(key, GOOD);

      expect(answer.status).to.equal(200);
      const id: string = answer.body.batch_id;
      expect(answer.body).to.deep.equal({ status: 'success', batch_id: id, total: 2, credits_used: 2 });
      expect(id).to.match(/^bat_[0-9a-z]{26}$/);
      expect(await batchOf(id)).to.deep.include({
        account,
        state: 'paid',
        open: true,
        total: 2,
        sender: 'HARKRA',
        route: 'promotional',
        path: 'promotional',
        lane: 3,
        content: { kind: 'text', text: 'Sale today', encoding: 'GSM7', segments: 1 },
        done: 0,
        reserved: 0,
      });
      expect((await chunksOf(id)).map(({ to }) => to)).to.deep.equal([GOOD.to]);
      expect(await balanceOf(account)).to.equal(8);
      const [entry] = await readStatement(store.db, account, Number.MAX_SAFE_INTEGER, 1);
      expect(entry).to.include({ amount: -2, reference: id });
    });

    it('takes 10,000 recipients, in their order', async () => {
      const { account, key } = await caller(10_000);
      const to = numbers(10_000);

      const answer = await send(key, { ...GOOD, to });

      expect(answer.body).to.include({ total: 10_000, credits_used: 10_000 });
      expect((await chunksOf(answer.body.batch_id)).flatMap((chunk) => chunk.to)).to.deep.equal(to);
      expect(await balanceOf(account)).to.equal(0);
    });

    it('waits in a lane behind single messages', async () => {
      const { key } = await caller(10);
      const { route: _, ...body } = GOOD;

      const answer = await send(key, body);

      expect(await batchOf(answer.body.batch_id)).to.include({ route: 'transactional', lane: 2 });
    });

    it('sends and bills equal entries as often as they are there', async () => {
      const { key } = await caller(10);

      const answer = await send(key, { ...GOOD, to: ['919876543210', '919876543210'] });

      expect(answer.body).to.include({ total: 2, credits_used: 2 }).and.not.have.property('duplicates');
    });

    it('dedupe: once, and says how many were dropped', async () => {
      const { account, key } = await caller(10);

      const answer = await send(key, {
        ...GOOD,
        to: ['919876543210', '919876543211', '919876543210', '919876543210'],
        dedupe: true,
      });

      expect(answer.body).to.include({ total: 2, credits_used: 2, duplicates: 2 });
      expect((await chunksOf(answer.body.batch_id)).map(({ to }) => to)).to.deep.equal([GOOD.to]);
      expect(await balanceOf(account)).to.equal(8);
    });

    it('dedupe: entries with different params are never equal', async () => {
      const { key } = await withTemplate(10);
      const [to] = GOOD.to;

      const answer = await send(key, {
        ...BASE,
        template_id: DLT_ID,
        recipients: [
          { to, params: ['Asha', '1'] },
          { to, params: ['Asha', '2'] },
          { to, params: ['Asha', '1'] },
        ],
        dedupe: true,
      });

      expect(answer.body).to.include({ total: 2, duplicates: 1 });
    });

    it('keeps reference and valid_until', async () => {
      const { key } = await caller(10);
      const validUntil = new Date(Math.floor(Date.now() / 1000 + 3_600) * 1000);

      const answer = await send(key, { ...GOOD, reference: 'spring', valid_until: validUntil.toISOString() });

      expect(await batchOf(answer.body.batch_id)).to.deep.include({ reference: 'spring', validUntil });
    });

    it('recipients: keeps the params of each beside the template as it is now', async () => {
      const { key } = await withTemplate(10);
      const [a = '', b = ''] = GOOD.to;

      const answer = await send(key, {
        ...BASE,
        template_id: DLT_ID,
        params: ['you', '0'],
        recipients: [{ to: a, params: ['Asha', '100'] }, { to: b }],
      });

      expect(answer.status).to.equal(200);
      const batch = await batchOf(answer.body.batch_id);
      expect(batch?.content)
        .to.include({ kind: 'template', dltId: DLT_ID })
        .and.deep.include({ params: ['you', '0'] });
      const [chunk] = await chunksOf(answer.body.batch_id);
      expect(chunk).to.deep.include({ to: [a, b], params: [['Asha', '100'], []] });
    });

    it('params serve all of `to`: one text', async () => {
      const { key } = await withTemplate(10);

      const answer = await send(key, { ...BASE, to: GOOD.to, template_id: DLT_ID, params: ['all', '5'] });

      expect((await batchOf(answer.body.batch_id))?.content).to.deep.equal({
        kind: 'text',
        text: 'Hi all, pay 5',
        encoding: 'GSM7',
        segments: 1,
        dltId: DLT_ID,
      });
    });

    it('dry_run: says what it would take, stores and charges nothing', async () => {
      const { account, key } = await withTemplate(10);

      const answer = await send(key, {
        ...BASE,
        template_id: DLT_ID,
        recipients: [
          { to: '919876543210', params: ['अशा', '1'] },
          { to: '919876543211', params: ['x', '2'] },
        ],
        dry_run: true,
      });

      expect(answer.body).to.deep.equal({
        status: 'success',
        dry_run: true,
        total: 2,
        credits_used: 0,
        credits_required: 2,
        segments: 1,
        encoding: 'UCS2',
        template_id: DLT_ID,
      });
      expect(await batches().countDocuments({ account })).to.equal(0);
      expect(await balanceOf(account)).to.equal(10);
    });

    it('Idempotency-Key: the second time the same answer, one batch, one debit', async () => {
      const { account, key } = await caller(10);

      const first = await send(key, GOOD, 'k1');
      const second = await send(key, GOOD, 'k1');

      expect(second.body).to.deep.equal(first.body);
      expect(second.headers).to.include({ 'idempotency-replayed': 'true' });
      expect(await batches().countDocuments({ account })).to.equal(1);
      expect(await balanceOf(account)).to.equal(8);
    });
  });

  it('403: without the credits for all nothing is sent, charged or stored', async () => {
    const { account, key } = await caller(1);

    const answer = await send(key, GOOD);

    expectProblem(answer, 'insufficient_credits');
    expect(answer.body.detail).to.contain('2 credits').and.to.contain('1');
    expect(await balanceOf(account)).to.equal(1);
    expect(await batches().countDocuments({ account })).to.equal(0);
  });

  it('403: a suspended account', async () => {
    const { account, key } = await caller(10);
    await setAccountStatus(store.db, account, 'suspended');

    expectProblem(await send(key, GOOD), 'account_suspended');
  });

  it('403: a sender that is not registered', async () => {
    const { key } = await caller(10, { senders: 'registered' });

    expectFieldRefusal(await send(key, GOOD), 'sender_not_allowed', 'sender');
  });

  it('404: a template that the sender does not have', async () => {
    const { key } = await withTemplate(10);

    const unknown = { ...BASE, to: GOOD.to, template_id: '1107160000000099999' };
    expectFieldRefusal(await send(key, unknown), 'template_not_found', 'template_id');
    expectProblem(
      await send(key, { ...BASE, to: GOOD.to, sender: 'OTHERS', template_id: DLT_ID }),
      'template_not_found',
    );
  });

  it('413: a body that is larger than the largest request', async () => {
    const { key } = await caller(10);

    expectProblem(await send(key, { ...GOOD, message: 'x'.repeat(10_485_760) }), 'body_too_large');
  });

  it('lets others have their turn while it looks at 10,000 entries with params', async () => {
    const { key } = await withTemplate(10_000);
    const recipients = numbers(10_000).map((to, i) => ({ to, params: [`customer ${i}`, String(i)] }));
    const answered = send(key, { ...BASE, template_id: DLT_ID, recipients, dry_run: true }).then((answer) => answer);
    let turns = 0;
    const count = setInterval(() => turns++, 0);

    const answer = await answered;

    clearInterval(count);
    expect(answer.body).to.include({ credits_required: 10_000 });
    // Checking the 10,000 entries alone takes 20 slices.
    expect(turns).to.be.above(10);
  });

  describe('400', () => {
    const cases: readonly [string, object, readonly { field: string; code: string }[]][] = [
      [
        'nothing at all',
        {},
        [
          { field: 'to', code: 'missing_field' },
          { field: 'message', code: 'missing_field' },
          { field: 'sender', code: 'missing_field' },
        ],
      ],
      ['`to` as a string', { ...GOOD, to: '919876543210' }, [{ field: 'to', code: 'wrong_type' }]],
      ['no entry', { ...GOOD, to: [] }, [{ field: 'to', code: 'wrong_count' }]],
      ['10,001 entries', { ...GOOD, to: numbers(10_001) }, [{ field: 'to', code: 'wrong_count' }]],
      [
        'bad entries among good ones',
        { ...GOOD, to: ['919876543210', '+919876543210', 919876543210, null] },
        [
          { field: 'to[1]', code: 'invalid_phone' },
          { field: 'to[2]', code: 'wrong_type' },
          { field: 'to[3]', code: 'wrong_type' },
        ],
      ],
      [
        'an entry and other fields',
        { ...GOOD, to: ['x'], message: '', route: 'fast', extra: 1 },
        [
          { field: 'to[0]', code: 'invalid_phone' },
          { field: 'message', code: 'too_short' },
          { field: 'route', code: 'invalid_value' },
          { field: 'extra', code: 'unknown_field' },
        ],
      ],
      ['`to` and `recipients`', { ...GOOD, recipients: [] }, [{ field: 'recipients', code: 'conflict' }]],
      [
        'recipients with what they do not have',
        { ...BASE, message: 'x', recipients: ['919876543210', {}, { to: '919876543210', parms: [] }] },
        [
          { field: 'recipients[0]', code: 'wrong_type' },
          { field: 'recipients[1].to', code: 'missing_field' },
          { field: 'recipients[2].parms', code: 'unknown_field' },
        ],
      ],
      [
        'params of a wrong type',
        {
          ...BASE,
          template_id: DLT_ID,
          recipients: [
            { to: '919876543210', params: 'x' },
            { to: '919876543210', params: [1] },
          ],
        },
        [
          { field: 'recipients[0].params', code: 'wrong_type' },
          { field: 'recipients[1].params[0]', code: 'wrong_type' },
        ],
      ],
      ['a text and a template', { ...GOOD, template_id: DLT_ID }, [{ field: 'message', code: 'conflict' }]],
      ['params without a template', { ...GOOD, params: [] }, [{ field: 'params', code: 'conflict' }]],
      [
        'params of entries without a template',
        { ...BASE, message: 'x', recipients: [{ to: '919876543210', params: [] }] },
        [{ field: 'recipients', code: 'conflict' }],
      ],
      [
        'the urgent lane',
        { ...GOOD, route: 'transactional', priority: 'otp' },
        [{ field: 'priority', code: 'invalid_value' }],
      ],
      [
        'switches that are none',
        { ...GOOD, dedupe: 'yes', dry_run: 1 },
        [
          { field: 'dedupe', code: 'wrong_type' },
          { field: 'dry_run', code: 'wrong_type' },
        ],
      ],
    ];
    for (const [what, body, problems] of cases) {
      it(`names all of it: ${what}`, async () => {
        const { account, key } = await caller(10);

        const answer = await send(key, body);

        expectProblem(answer, 'invalid_request');
        expect(
          answer.body.errors.map(({ field, code }: { field: string; code: string }) => ({ field, code })),
        ).to.have.deep.members(problems);
        expect(answer.body.errors_count).to.equal(problems.length);
        expect(await batches().countDocuments({ account })).to.equal(0);
      });
    }

    it('lists the first hundred bad entries, and their count', async () => {
      const { key } = await caller(10);

      const answer = await send(key, { ...GOOD, to: numbers(300).map((to, i) => (i < 150 ? to : `+${to}`)) });

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors_count).to.equal(150);
      expect(answer.body.errors).to.have.length(100);
      expect(answer.body.errors[0]).to.include({ field: 'to[150]' });
    });

    it('template: every param that does not fit, by its entry', async () => {
      const { account, key } = await withTemplate(10);
      const to = '919876543210';

      const answer = await send(key, {
        ...BASE,
        template_id: DLT_ID,
        recipients: [
          { to, params: ['Asha', '100'] },
          { to, params: ['Asha'] },
          { to, params: ['x'.repeat(31), 'ten'] },
          { to },
          { to, params: ['half \ud83d', '1'] },
        ],
      });

      expectProblem(answer, 'invalid_request');
      expect(
        answer.body.errors.map(({ field, code }: { field: string; code: string }) => ({ field, code })),
      ).to.have.deep.members([
        { field: 'recipients[3].params', code: 'missing_field' },
        { field: 'recipients[1].params', code: 'wrong_count' },
        { field: 'recipients[2].params[0]', code: 'too_long' },
        { field: 'recipients[2].params[1]', code: 'wrong_type' },
        { field: 'recipients[4].params[0]', code: 'invalid_text' },
      ]);
      expect(await balanceOf(account)).to.equal(10);
    });

    it('a body of megabytes that is no JSON', async () => {
      const { key } = await caller(10);

      expectProblem(await send(key, `${JSON.stringify({ ...GOOD, to: numbers(20_000) })}}`), 'malformed_body');
    });
  });
});
