import request from 'supertest';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { writeOut } from '../../../../shared/messages/queue/queue-store.ts';
import { bookedSchedule } from '../../../../shared/messages/schedule.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { giveBackRefused } from '../../../../shared/money/conversations/charge.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { refundMessages, topUp } from '../../../../shared/money/ledger/change.ts';
import { ledgerCollection, ledgerEntryId } from '../../../../shared/money/ledger/store.ts';
import { debitEach } from '../../../../shared/money/payment/debit.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeBatch, payBatch } from '../../../support/batches.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../../support/chat.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('GET /v2/ledger', () => {
  const site = accountAtGateway(0);

  const ask = (query = '', as = site.key): request.Test =>
    request(site.url).get(`/v2/ledger${query}`).set('Authorization', `Bearer ${as}`);
  const seqs = ({ body }: request.Response): number[] => body.data.map((entry: { seq: number }) => entry.seq);

  describe('200', () => {
    it('an account whose balance never changed', async () => {
      const answer = await ask();

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({ data: [], next_cursor: null, has_more: false });
    });

    it('a conversation of the chat-app channel, and that it was given back', async () => {
      const account = await makeAccount(site.db, 10);
      const key = await makeKey(site.db, account);
      const prices = CHAT_PRICES;
      const accepter = createChatAccepter({ db: site.db, clock: systemClock, log: silentLog, prices });
      const outcome = await accepter.accept(account, makeTemplateDraft());
      if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
      const [opener] = await chatMessagesOf(site.db, account);
      if (opener === undefined) throw new Error('it is stored');
      const refused: ChatMessageDocument = { ...opener, state: 'rejected', parts: [{ state: 'refused' }] };
      await site.db.collection<ChatMessageDocument>('messages').replaceOne({ _id: opener._id }, refused);
      await giveBackRefused(site.db, [refused]);

      const { body } = await ask('', key);

      const [refund, debit] = body.data;
      const reference = outcome.conversation;
      const opened = [{ message_id: opener._id, to: opener.to, reference: opener.reference ?? null }];
      expect([debit.messages, refund.messages]).to.deep.equal([opened, opened]);
      expect(debit).to.include({ seq: 2, amount: -2, balance_after: 8, reason: 'conversation', reference });
      expect(refund).to.include({ seq: 3, amount: 2, balance_after: 10, reason: 'refund', reference });
    });

    it('every change, newest first, with what it was for', async () => {
      await topUp(site.db, site.account, 10, 'invoice-1');
      const batch = makeBatch(site.account, 4);
      await payBatch(site.db, batch);

      const { body } = await ask();

      const [debit, credit] = body.data;
      expect(body).to.deep.include({ next_cursor: null, has_more: false });
      expect(debit.at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);
      expect(debit).to.include({ seq: 2, amount: -4, balance_after: 6, reason: 'send', reference: batch._id });
      expect(debit.change_id).to.match(/^grp_/);
      expect(credit).to.deep.equal({
        seq: 1,
        at: credit.at,
        amount: 10,
        balance_after: 10,
        reason: 'top_up',
        reference: 'invoice-1',
        change_id: 'crd_invoice-1',
      });
    });

    it('single messages with number and reference, both marked when the same went twice, and why one came back', async () => {
      const { db } = site;
      const account = await makeAccount(db, 10);
      const key = await makeKey(db, account);
      const as = (asked: request.Test) => asked.set('Authorization', `Bearer ${key}`);
      const send = async (message: string): Promise<MessageId> => {
        const body = { to: '919876543210', message, sender: 'HARKRA', reference: 'order 7' };
        return (await as(request(site.url).post('/v2/send')).send(body).expect(200)).body.message_id;
      };
      const ids = [await send('hello'), await send('hello'), await send('other')];
      const messages = db.collection<MessageDocument>('messages');
      await eventually(async () => {
        while ((await writeOut(db, new Date(), { account })) > 0);
        return (await messages.countDocuments({ account })) === 3;
      }, 'the messages are written out');
      await messages.updateOne({ _id: ids[2] as MessageId }, { $set: { state: 'rejected', errorCode: 'no_route' } });
      await refundMessages(db, await messages.find({ _id: ids[2] as MessageId }).toArray());

      const { data } = (await ask('', key)).body;

      const [refund, third, second, first] = data;
      expect(refund.explanation).to.be.a('string');
      expect(refund.messages).to.deep.equal([{ message_id: ids[2], to: '919876543210', reference: 'order 7' }]);
      expect(third).to.deep.include({ message_count: 1, messages: refund.messages }).and.not.have.property('repeats');
      expect([second.repeats, first.repeats]).to.deep.equal([[first.seq], [second.seq]]);
      const only = (await ask(`?change_id=${first.change_id}`, key)).body;
      expect(only.data.map(({ seq }: { seq: number }) => seq)).to.deep.equal([first.seq]);
      const paid = await as(request(site.url).get(`/v2/messages?change_id=${first.change_id}`)).expect(200);
      expect(paid.body.data.map(({ message_id: id }: { message_id: string }) => id)).to.deep.equal([ids[0]]);
      const whole = (await as(request(site.url).get(`/v2/messages/${ids[0]}`)).expect(200)).body;
      expect(whole.repeats).to.deep.equal([ids[1]]);
      expect(whole.timeline).to.deep.include({ ...whole.timeline[2], what: 'paid', change_id: first.change_id });
      expect((await as(request(site.url).get(`/v2/messages/${ids[2]}`))).body).not.to.have.property('repeats');
    });

    it('a schedule by its id, at once, after a day and when it is given back', async () => {
      const account = await makeAccount(site.db, 10);
      const key = await makeKey(site.db, account);
      const time = new Date(Date.now() + 3_600_000).toISOString();
      const body = { to: '919876543210', message: 'hello', sender: 'HARKRA', schedule_time: time };
      const as = (asked: request.Test) => asked.set('Authorization', `Bearer ${key}`);
      const id = (await as(request(site.url).post('/v2/schedule')).send(body)).body.schedule_id;
      const debit = async () => (await ask('', key)).body.data.find((entry: { seq: number }) => entry.seq === 2);

      const paid = { amount: -1, reason: 'send', reference: id, schedule_ids: [id] };
      expect(await debit()).to.deep.include(paid);
      await finishPending(site.db, new ManualClock(new Date(Date.now() + 86_400_000)));
      expect((await site.db.collection<AccountDocument>('accounts').findOne({ _id: account }))?.pending).to.equal(
        undefined,
      );
      expect(await debit()).to.deep.include(paid);
      await as(request(site.url).delete(`/v2/schedule/${id}`));
      const [refund] = (await ask('', key)).body.data;
      expect(refund).to.include({ seq: 3, amount: 1, reason: 'refund', reference: id });
    });

    it('schedules that were paid together, each by its id, also while the entry is not written', async () => {
      const account = await makeAccount(site.db, 10);
      const ids = [newId('sch'), newId('sch')];
      const group = newId('grp');
      const at = new Date(Date.now() + 3_600_000);
      const content = { kind: 'message', message: makeDraft() } as const;
      const schedules = ids.map((_id) => bookedSchedule(account, group, { _id, at, scheduledFor: '', content }));
      await debitEach(site.db, [{ account, group, messages: [], schedules, today: '2026-11-21', done: [] }]);

      const [debit] = (await ask('', await makeKey(site.db, account))).body.data;

      expect(debit).to.deep.include({ amount: -2, reference: null, schedule_ids: ids });
    });

    it('pages show every entry once', async () => {
      for (let n = 1; n <= 12; n++) await topUp(site.db, site.account, 1, `n${n}`);

      const first = await ask('?limit=5');
      const second = await ask(`?limit=5&cursor=${first.body.next_cursor}`);
      const third = await ask(`?limit=5&cursor=${second.body.next_cursor}`);

      expect([first, second, third].map(seqs)).to.deep.equal([
        [12, 11, 10, 9, 8],
        [7, 6, 5, 4, 3],
        [2, 1],
      ]);
      expect([first, second, third].map(({ body }) => body.has_more)).to.deep.equal([true, true, false]);
    });

    it('has no gap when a process died between a debit and its entry', async () => {
      for (let n = 1; n <= 3; n++) await topUp(site.db, site.account, 1, `n${n}`);
      for (const seq of [2, 3]) {
        const entry = await ledgerCollection(site.db).findOneAndDelete({ account: site.account, seq });
        if (entry === null) throw new Error('no such entry');
        const { amount, balanceAfter, reason, at } = entry;
        const pending = { seq, amount, balanceAfter, reason, at };
        await site.db
          .collection<AccountDocument>('accounts')
          .updateOne({ _id: site.account }, { $set: { [`pending.${entry.change}`]: pending } });
      }

      const first = await ask('?limit=2');

      expect(seqs(first)).to.deep.equal([3, 2]);
      expect(seqs(await ask(`?cursor=${first.body.next_cursor}`))).to.deep.equal([1]);
    });

    it('has no gap when a later change was entered before an earlier one, behind the reading of the account', async () => {
      for (let n = 1; n <= 2; n++) await topUp(site.db, site.account, 1, `n${n}`);
      const entry = await ledgerCollection(site.db).findOne({ account: site.account, seq: 2 });
      if (entry === null) throw new Error('no such entry');
      // As if number 3 were still pending, and the account had been read before numbers 3 and 4 were made.
      const later = { ...entry, _id: ledgerEntryId(site.account, 4), seq: 4, change: newId('grp') };
      await ledgerCollection(site.db).insertOne(later);

      expect(seqs(await ask())).to.deep.equal([2, 1]);
    });

    it("never another account's, also with its cursor", async () => {
      const theirs = await makeAccount(site.db, 5);
      await topUp(site.db, theirs, 1, 'more');
      const { body } = await ask('?limit=1', await makeKey(site.db, theirs));
      expect(body.has_more).to.equal(true);

      expect((await ask()).body.data).to.deep.equal([]);
      expect((await ask(`?cursor=${body.next_cursor}`)).body.data).to.deep.equal([]);
    });
  });

  for (const [query, field] of [
    ['limit=0', 'limit'],
    [`cursor=${Buffer.from('ledger:0').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('ledger:1234567890123').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('messages:1').toString('base64url')}`, 'cursor'],
    ['state=sent', 'state'],
  ]) {
    it(`400: ${query}`, async () => {
      const answer = await ask(`?${query}`);

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors.map((problem: { field: string }) => problem.field)).to.deep.equal([field]);
    });
  }
});
