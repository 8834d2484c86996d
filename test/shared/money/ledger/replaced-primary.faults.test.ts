import type { Collection, Db } from 'mongodb';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { makeAccount } from '../../../support/make.ts';
import { useStore } from '../../../support/store.ts';

/** Far longer than a hundred tries without pauses take, far shorter than a hundred with pauses. */
const REPLACED_FOR_MS = 2_000;

describe('a credit, while plain reads come to a replaced primary', () => {
  const store = useStore();

  /** For `REPLACED_FOR_MS`, plain reads of accounts show `shown`, which no majority of servers has. */
  function replacedPrimary(shown: object): { readonly db: Db; readonly reads: () => number } {
    let until: number | undefined;
    let reads = 0;
    const accounts = store.db.collection<AccountDocument>('accounts');
    const findOne = async (...[filter, options]: Parameters<Collection<AccountDocument>['findOne']>) => {
      const found = await accounts.findOne(filter ?? {}, options);
      until ??= performance.now() + REPLACED_FOR_MS; // Starts with the first read, however busy the machine is.
      if (performance.now() >= until) return found;
      reads += 1;
      return { ...found, ...shown };
    };
    const stale = new Proxy(accounts, {
      get(target, member) {
        if (member === 'findOne') return findOne;
        const value: unknown = Reflect.get(target, member);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const db = new Proxy(store.db, {
      get(target, member) {
        if (member === 'collection') return (name: string) => (name === 'accounts' ? stale : target.collection(name));
        const value: unknown = Reflect.get(target, member);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    return { db, reads: () => reads };
  }

  it('asks until they come to the new one, and is applied once', async function () {
    this.timeout(60_000);
    const account = await makeAccount(store.db, 5);
    const { db, reads } = replacedPrimary({ pending: { 'crd_invoice-7': { seq: 2 } } });

    const answer = await topUp(db, account, 10, 'invoice-7');

    expect(reads(), 'it was misled').to.be.greaterThan(0);
    expect(answer).to.deep.equal({ kind: 'applied', balance: 15, reason: 'top_up', entered: 10 });
    expect(await verifyLedger(store.db, account)).to.deep.include({ balance: 15, problems: [] });
  });
});
