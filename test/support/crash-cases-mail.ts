import { createKey } from '../../shared/people/keys/store.ts';
import type { MailDocument } from '../../shared/people/mails.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type Case, SETTLED_MS } from './crash-cases.ts';
import { eventually } from './eventually.ts';
import type { Product } from './product.ts';
import { signedIn } from './signed-in.ts';

/** After a crash behind the mail server's answer, the same mail is sent again. */
export function mailCases(product: () => Product): readonly Case[] {
  return [
    {
      point: 'mail:taken',
      app: 'background',
      async act() {
        const { db, account, mailbox } = product();
        const { user } = await signedIn(db, 'owner', account);
        await createKey(db, systemClock, { account, name: 'told of', scopes: ['read'] });
        const mails = db.collection<MailDocument>('mails');
        // An earlier case may send a mail too, and the process may die after that one.
        const own = await eventually(
          async () => {
            const found = await mails.find({ to: user.username }).toArray();
            expect(found.map(({ kind }) => kind)).to.include('key.created');
            expect(new Set(found.map(({ state }) => state))).to.have.keys('sent');
            return found;
          },
          'all mails are sent',
          SETTLED_MS,
        );
        const came = mailbox?.mails().filter(({ to }) => to.includes(user.username)) ?? [];
        expect(came).to.have.length(own.length + 1);
        expect(new Set(came.map(({ messageId }) => messageId)).size).to.equal(own.length);
      },
      ends: [],
    },
  ];
}
