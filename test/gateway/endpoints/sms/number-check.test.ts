import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { makeEntries } from '../../../support/batches.ts';
import { CUSTOMER, chatAtGateway } from '../../../support/chat-gateway.ts';
import { expectProblem } from '../../../support/problem.ts';

const [BAD, GOOD] = ['9812345678', CUSTOMER];
const WORDS = { message: 'hello', sender: 'HARKRA' };
const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe('an account that has its recipients checked', () => {
  const world = chatAtGateway(20_000);
  beforeEach(async () => {
    const settings = { numberCheck: 'on', country: 'IN' } as const;
    await world.db.collection<AccountDocument>('accounts').updateOne({ _id: world.account }, { $set: settings });
  });

  const missing = (field: string) => ({
    field,
    code: 'country_code_missing',
    detail: 'The country code is missing: write 919812345678.',
  });

  for (const [path, more] of [
    ['/v2/send', {}],
    ['/v2/send', { dry_run: true }],
    ['/v2/schedule', { schedule_time: later() }],
  ] as const) {
    it(`${path} ${JSON.stringify(Object.keys(more))}: says what to write, and takes that`, async () => {
      const refused = await world.post(path, { ...WORDS, ...more, to: BAD });
      expectProblem(refused, 'invalid_request');
      expect(refused.body.errors).to.deep.equal([missing('to')]);
      await world.expectNothingDone(20_000);

      expect((await world.post(path, { ...WORDS, ...more, to: GOOD })).status).to.equal(200);
    });
  }

  for (const [path, more] of [
    ['/v2/send-bulk', {}],
    ['/v2/schedule', { schedule_time: later() }],
  ] as const) {
    it(`${path}: names each bad entry by its index`, async () => {
      const refused = await world.post(path, { ...WORDS, ...more, to: [GOOD, BAD, GOOD, '99912345678'] });

      expectProblem(refused, 'invalid_request');
      expect(refused.body.errors[0]).to.deep.equal(missing('to[1]'));
      expect(refused.body.errors[1]).to.include({ field: 'to[3]', code: 'unknown_number' });
      await world.expectNothingDone(20_000);
    });
  }

  it('/v2/send-bulk: entries with params too, and 10,000 of them while others are answered', async () => {
    const { body } = await world.post('/v2/send-bulk', { ...WORDS, recipients: [{ to: GOOD }, { to: BAD }] });
    expect(body.errors).to.deep.equal([missing('recipients[1].to')]);
    const to = makeEntries(10_000).map((entry, i) => (i % 2 === 0 ? entry.to.slice(2) : entry.to));
    let done = false;
    const bulk = world.post('/v2/send-bulk', { ...WORDS, to }).then((answer) => {
      done = true;
      return answer;
    });

    let answered = 0;
    while (!done) {
      await world.get('/v2/balance');
      answered += 1;
    }

    expectProblem(await bulk, 'invalid_request');
    expect((await bulk).body.errors_count).to.equal(5_000);
    expect(answered).to.be.greaterThan(3);
  });

  it('a chat-app send too', async () => {
    await world.configure();
    const template = { template: 'order_update', language: 'en_US', params: ['Asha', '1234'] };

    const refused = await world.post('/v2/chatapp/send', { ...template, to: BAD });

    expectProblem(refused, 'invalid_request');
    expect(refused.body.errors).to.deep.equal([missing('to')]);
    expect((await world.post('/v2/chatapp/send', { ...template, to: GOOD })).status).to.equal(200);
  });
});
