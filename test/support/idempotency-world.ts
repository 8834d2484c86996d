import request from 'supertest';
import type { KeyClaimDocument } from '../../gateway/http/idempotency/key-store.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { balanceOf } from './balance.ts';
import { makeKey, useGateway } from './gateway.ts';
import { makeAccount } from './make.ts';
import { writeOutAll } from './queue.ts';
import { useStore } from './store.ts';

export const GOOD = { to: '919876543210', message: 'Your code is 1234', sender: 'HARKRA' };

export interface Customer {
  readonly account: AccountId;
  readonly key: string;
}

/** Two gateways on one store, open during the tests of one `describe`. */
export function idempotencyWorld() {
  const store = useStore();
  const world = { store, gateway: useGateway(store), other: useGateway(store) };
  const claims = () => world.store.db.collection<KeyClaimDocument>('idempotency');

  async function makeCustomer(credits: number): Promise<Customer> {
    const account = await makeAccount(world.store.db, credits);
    return { account, key: await makeKey(world.store.db, account, ['send', 'read']) };
  }

  function post({ key }: Customer, idempotencyKey: string, path: string, body: object, to = world.gateway) {
    return request(to.url)
      .post(path)
      .set('Authorization', `Bearer ${key}`)
      .set('Idempotency-Key', idempotencyKey)
      .send(body);
  }

  function send(customer: Customer, idempotencyKey: string, body: object = GOOD, to = world.gateway): request.Test {
    return post(customer, idempotencyKey, '/v2/send', body, to);
  }

  /** Includes those that are only lines of the queue. */
  async function messagesOf({ account }: Customer): Promise<MessageDocument[]> {
    await writeOutAll(world.store.db);
    return world.store.db.collection<MessageDocument>('messages').find({ account }).toArray();
  }

  async function claimOf({ account }: Customer): Promise<KeyClaimDocument | undefined> {
    const found = (await claims().find({}).toArray()).filter(({ _id }) => _id.startsWith(account));
    expect(found.length).to.be.at.most(1);
    return found[0];
  }

  async function changeClaim(customer: Customer, set: Partial<KeyClaimDocument>): Promise<void> {
    const claim = await claimOf(customer);
    await claims().updateOne({ _id: claim?._id ?? `${customer.account}:` }, { $set: set });
  }

  function agePayBy(customer: Customer): Promise<void> {
    return changeClaim(customer, { payBy: new Date(Date.now() - 1) });
  }

  const helpers = {
    makeCustomer,
    post,
    send,
    balanceOf: ({ account }: Customer) => balanceOf(world.store.db, account),
    messagesOf,
    claimOf,
    changeClaim,
    agePayBy,
  };
  return Object.defineProperties(helpers, Object.getOwnPropertyDescriptors(world)) as typeof helpers & typeof world;
}
