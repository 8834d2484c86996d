import { expect } from 'chai';
import type { Db } from 'mongodb';
import request from 'supertest';
import type { UserDocument } from '../../../../shared/people/users/user.ts';
import { openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { useStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

describe('two owners who remove each other at the same moment', () => {
  const store = useStore();
  const gateway = use(() => openGateway(withMeanwhile(store.db)));
  let one: Browser;
  let two: Browser;
  /** Runs once, after the first look and before the change. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  beforeEach(async () => {
    const account = await makeAccount(store.db, 0);
    one = await signedIn(store.db, 'owner', account);
    two = await signedIn(store.db, 'owner', account);
    meanwhile = async () => {
      await users().updateOne({ _id: one.user._id }, { $set: { role: 'viewer' } });
      await users().updateOne({ _id: two.user._id }, { $set: { password: 'a new one' } });
    };
  });

  const users = () => store.db.collection<UserDocument>('users');

  for (const [change, how] of [
    ['removed', (path: string) => request(gateway.url).delete(path)],
    ['made a viewer', (path: string) => request(gateway.url).patch(path).send({ role: 'viewer', name: 'Ravi' })],
    ['disabled', (path: string) => request(gateway.url).patch(path).send({ status: 'disabled' })],
  ] as const) {
    it(`one who was ${change} stays an owner, with a password that was new; the audit says nothing`, async () => {
      expectProblem(await how(`/v2/account/users/${two.user._id}`).set(one.headers), 'last_owner');

      const { epoch: _, ...left } = (await users().findOne({ _id: two.user._id })) ?? {};
      const { epoch: __, ...was } = two.user;
      expect(left).to.deep.equal({ ...was, password: 'a new one' });
      expect(await store.db.collection('audit').find({ 'subject.id': two.user.username }).toArray()).to.deep.equal([]);
    });
  }

  /** A store in which something happens just before the second owner is changed. */
  function withMeanwhile(db: Db): Db {
    const changing = (target: object): object =>
      new Proxy(target, {
        get(of, name) {
          const value = Reflect.get(of, name) as unknown;
          if (typeof value !== 'function') return value;
          if (!/^(findOneAnd|update|delete)/.test(String(name))) return value.bind(of) as unknown;
          return async (filter: { readonly _id?: unknown }, ...rest: unknown[]) => {
            const now = filter._id === two.user._id ? meanwhile : undefined;
            if (now !== undefined) meanwhile = undefined;
            await now?.();
            return value.call(of, filter, ...rest) as unknown;
          };
        },
      });
    return new Proxy(db, {
      get(of, name) {
        const value = Reflect.get(of, name) as unknown;
        if (typeof value !== 'function') return value;
        if (name !== 'collection') return value.bind(of) as unknown;
        return (wanted: string) => (wanted === 'users' ? changing(of.collection(wanted)) : of.collection(wanted));
      },
    });
  }
});
