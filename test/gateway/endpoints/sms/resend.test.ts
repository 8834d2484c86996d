import request from 'supertest';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { balanceOf } from '../../../support/balance.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeInboundSms, makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';

describe('POST /v2/messages/{message_id}/resend', () => {
  const world = accountAtGateway(10);
  const messages = () => world.db.collection<AnyMessage>('messages');
  const stored = async (overrides: Partial<MessageDocument> = {}) => {
    const message = makeMessage({
      account: world.account,
      state: 'failed',
      text: 'Your parcel has left.',
      ...overrides,
    });
    await messages().insertOne(message);
    return message;
  };
  const resend = (id: string, headers: Readonly<Record<string, string>> = {}) =>
    request(world.url).post(`/v2/messages/${id}/resend`).auth(world.key, { type: 'bearer' }).set(headers).send({});
  const show = async (id: string) =>
    (await request(world.url).get(`/v2/messages/${id}`).auth(world.key, { type: 'bearer' }).expect(200)).body;

  it('200: a new message with the same text, charged once, which names the first', async () => {
    const first = await stored({ reference: 'order 7', lane: 2 });
    const key = { 'Idempotency-Key': newId('req') };

    const { body } = await resend(first._id, key).expect(200);
    const again = await resend(first._id, key).expect(200);

    expect(again.body).to.deep.equal(body);
    expect(body.message_id).not.to.equal(first._id);
    expect(await balanceOf(world.db, world.account)).to.equal(9);
    expect(await show(body.message_id)).to.include({
      ...{ to: first.to, sender: first.sender, route: 'transactional', reference: 'order 7' },
      ...{ text: 'Your parcel has left.', resend_of: first._id },
    });
    expect((await show(first._id)).resent_as).to.deep.equal([body.message_id]);
  });

  it('200: also without any body', async () => {
    const { _id } = await stored();
    const key = newId('req');
    const bare = () =>
      request(world.url)
        .post(`/v2/messages/${_id}/resend`)
        .auth(world.key, { type: 'bearer' })
        .set('Idempotency-Key', key);

    const { body } = await bare().expect(200);
    expect((await bare().expect(200)).body).to.deep.equal(body);
  });

  it('409: what still waits, what was received, and what has lost its text', async () => {
    const waiting = await stored({ state: 'queued' });
    const { _id: old } = await stored();
    await messages().updateOne({ _id: old }, { $unset: { text: '' } });
    const theirs = makeInboundSms({ account: world.account });
    await messages().insertOne(theirs);

    for (const id of [waiting._id, old, theirs._id]) expectProblem(await resend(id), 'not_resendable');
    expect(await balanceOf(world.db, world.account)).to.equal(10);
  });

  it('404: of another account; 403: without `send`, and when the account may not send', async () => {
    const { _id } = await stored({ account: await makeAccount(world.db, 1) });
    expectProblem(await resend(_id), 'message_not_found');

    const reader = await makeKey(world.db, world.account, ['read']);
    const own = await stored();
    const refused = await request(world.url).post(`/v2/messages/${own._id}/resend`).auth(reader, { type: 'bearer' });
    expectProblem(refused, 'scope_missing');
    await world.db.collection<{ _id: string }>('accounts').updateOne({ _id: world.account }, { $set: { balance: 0 } });
    expectProblem(await resend(own._id), 'insufficient_credits');
    expect(await show(own._id)).not.to.have.property('resent_as');
  });
});
