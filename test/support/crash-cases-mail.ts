import { expect } from 'chai';
import { createKey } from '../../shared/people/keys/store.ts';
import type { MailDocument } from '../../shared/people/mails/mail.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type Case, SETTLED_MS } from './crash-cases.ts';
import { eventually } from './eventually.ts';
import type { Product } from './product.ts';
import { signedIn } from './signed-in.ts';

/** A crash behind the answer of the mail server: the mail goes again, as the same. */
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
        await eventually(
          async () => (await mails.findOne({ to: user.username }))?.state === 'sent',
          'the mail is sent',
          SETTLED_MS,
        );
        const came = mailbox?.mails().filter(({ to }) => to.includes(user.username)) ?? [];
        expect(came).to.have.length(2);
        expect(new Set(came.map(({ messageId }) => messageId)).size).to.equal(1);
      },
      ends: [],
    },
  ];
}
