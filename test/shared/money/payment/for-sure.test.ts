import { type Db, type Document, Long, MongoWriteConcernError } from 'mongodb';
import { insertFirst } from '../../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { applyCredits } from '../../../../shared/money/ledger/change.ts';
import { debitAgain, debitEach } from '../../../../shared/money/payment/debit.ts';
import { findAccepted } from '../../../../shared/money/payment/pending.ts';
import { connectStore, type Store } from '../../../../shared/platform/mongo/connect.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount } from '../../../support/make.ts';
import { ownDocuments } from '../../../support/queue.ts';
import { openScriptedMongo, type ScriptedMongo } from '../../../support/scripted-mongo.ts';
import { debitWorld } from './world.ts';

describe('what a replaced primary still shows', () => {
  const { store, accounts, balanceOf, makeRequest, debits } = debitWorld();

  /** Reads of accounts lack the pending change `hidden`, as from a server without this debit. */
  function behind(hidden: string): Db {
    return new Proxy(store.db, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (property !== 'command') return typeof value === 'function' ? value.bind(target) : value;
        return async (...[command, options]: Parameters<Db['command']>) => {
          const answer: Document = await target.command(command, options);
          for (const account of answer.cursor?.firstBatch ?? []) delete account.pending?.[hidden];
          return answer;
        };
      },
    });
  }

  it('does not make a debit refused that the store has answered as paid', async () => {
    const payers = await Promise.all([1, 2, 3].map(() => makeAccount(store.db, 1)));
    const poor = await makeAccount(store.db, 0);
    const requests = [...payers, poor].map((payer) => makeRequest(payer));

    const answers = await debits(behind(requests[1]?.group ?? ''))(requests);

    const told = answers.map((answer) => (answer.kind === 'refused' ? answer.why.kind : answer.kind));
    expect(told).to.deep.equal(['paid', 'paid', 'paid', 'insufficient_credits']);
    for (const payer of payers) expect(await balanceOf(payer)).to.equal(0);
  });

  it('hides no line from whoever asks whether its message was accepted', async () => {
    const account = await makeAccount(store.db, 0);
    const { group, messages } = makeRequest(account);
    await insertFirst(store.db, ownDocuments(group, messages, new Date()));
    let hidden = 1;
    const old = new Proxy(store.db, {
      get(target, property) {
        if (property !== 'collection') return Reflect.get(target, property);
        return (name: string) => {
          const collection = target.collection(name);
          const find = (filter: Document) => collection.find(hidden-- > 0 ? { _id: 'shown by nobody' } : filter);
          return name === 'queue' ? Object.create(collection, { find: { value: find } }) : collection;
        };
      },
    });

    expect(await findAccepted(old, account, messages[0]?._id ?? 'msg_none')).to.deep.include({ account, group });
    expect(hidden).to.be.below(1);
    expect(await findAccepted(store.db, account, newId('msg'))).to.equal(undefined);
  });

  describe('and is not on a majority', () => {
    let server: ScriptedMongo;
    let deposed: Store;
    let shown: Partial<AccountDocument> = {};
    const writeConcernError = { code: 189, codeName: 'PrimarySteppedDown', errmsg: 'the primary stepped down' };
    before(async () => {
      server = await openScriptedMongo({
        answer: (command) => {
          if ('findAndModify' in command) return { value: { ...shown }, writeConcernError };
          return { n: 0, cursor: { id: Long.ZERO, ns: 'x.accounts', firstBatch: [shown] } };
        },
      });
      deposed = await connectStore({ mongodbUri: server.uri, dataDir: '', mongodbDatabase: 'x' });
    });
    after(async () => {
      await deposed.close();
      await server.close();
    });

    it('is no payment: whoever asks about a lost answer is told that nobody knows', async () => {
      const account = await makeAccount(store.db, 1);
      const request = makeRequest(account);
      await debitEach(store.db, [request]);
      shown = (await accounts().findOne({ _id: account })) ?? {};

      const asked = [
        debitAgain(deposed.db, request),
        findAccepted(deposed.db, account, request.messages[0]?._id ?? 'msg_none'),
      ];

      for (const one of await Promise.allSettled(asked)) {
        expect(one).to.have.property('reason').that.is.instanceOf(MongoWriteConcernError);
      }
      const written = server.commands.filter((command) => 'findAndModify' in command);
      expect(written).to.have.length(2);
      for (const { writeConcern } of written) expect(writeConcern).to.deep.equal({ w: 'majority', j: true });
    });

    it('is no refund either', async () => {
      const account = await makeAccount(store.db, 1);
      const id = 'ref_msg_1' as const;
      shown = { _id: account, balance: 1, credits: 2, pending: { [id]: { seq: 2 } as never } };

      const asked = applyCredits(deposed.db, account, [{ id, amount: 1, reason: 'refund', reference: 'msg_1' }]);

      expect(await asked.catch((error: unknown) => error)).to.be.instanceOf(MongoWriteConcernError);
    });
  });
});
