import { addOptIns } from '../../../shared/carriers/chat-opt-in-store.ts';
import type { ConversationDocument } from '../../../shared/money/conversations/conversation.ts';
import { customerOf, findPerson, type Person } from '../../../shared/money/conversations/person.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, customerId, newId } from '../../../shared/platform/runtime/ids.ts';
import { linkCustomers, type Told } from '../../../workers/chatapp/customers.ts';
import { customerWrites, makeTemplateDraft, makeTextDraft } from '../../support/chat.ts';
import { makeAccount } from '../../support/make.ts';
import { openingWorld } from '../../support/opening-world.ts';

const [OLD, NEW] = ['919876543210', '919876543999'];
const [OLD_ID, NEW_ID] = ['IN.1000000000000001', 'IN.1000000000000002'];
const PARENT = 'IN.ENT.9000000000000001';

describe('chatapp worker: a customer is a person', () => {
  const world = openingWorld();
  const { newAccepter, accountOf, chargesOf, expectWholeLedger } = world;
  const tell = (account: AccountId, ...tolds: Omit<Told, 'account'>[]) =>
    linkCustomers(
      world.store.db,
      tolds.map((told) => ({ account, ...told })),
      new Date(),
    );
  const person = async (account: AccountId, asked: string): Promise<Person> => {
    const found = await findPerson(world.store.db, account, asked);
    if (found === undefined) throw new Error(`nobody is ${asked}`);
    return found;
  };
  const isNobody = async (account: AccountId, asked: string) =>
    (await findPerson(world.store.db, account, asked)) === undefined;
  const changed: Omit<Told, 'account'> = {
    names: [OLD, OLD_ID, NEW, NEW_ID],
    profile: { number: NEW, userId: NEW_ID },
    changed: 'number',
  };
  const writes = async (account: AccountId, customer: string, told: Partial<Told> = {}) => {
    await customerWrites(world.store.db, account, customer);
    await tell(account, { names: [customer], wroteAt: new Date(), ...told });
  };

  it('is found by number, both user ids, user name and id; what nobody tells costs no document', async () => {
    const account = newId('acc');
    const profile = { userId: OLD_ID, parentId: PARENT, username: 'Asha.Rao', name: 'Asha' };
    await writes(account, OLD, { names: [OLD, OLD_ID, PARENT], profile });
    const customer = { id: customerId(account, OLD), number: OLD, user_id: OLD_ID, username: 'Asha.Rao', name: 'Asha' };

    for (const asked of [OLD, OLD_ID, PARENT, 'asha.rao', '@ASHA.RAO', customer.id]) {
      expect(customerOf(account, await person(account, asked)), asked).to.deep.equal(customer);
    }
    expect(await world.store.db.collection('conversations').countDocuments({ account })).to.equal(1);
    expect(await isNobody(newId('acc'), OLD_ID), 'another account').to.equal(true);
    await writes(account, OLD, { names: [OLD, OLD_ID], profile: { username: 'asha' } });
    expect(await isNobody(account, 'asha.rao'), 'the old user name may be another person’s').to.equal(true);
  });

  it('writes nothing where nothing is news', async () => {
    const account = newId('acc');
    const told = { names: [OLD, OLD_ID, PARENT], profile: { userId: OLD_ID, name: 'Asha' } };
    await writes(account, OLD, told);
    const stored = () => world.store.db.collection('conversations').find({ account }).toArray();
    const before = await stored();

    await tell(account, told, told);

    expect(await stored()).to.deep.equal(before);
  });

  for (const [what, later] of [
    ['before the new names were seen', false],
    ['after somebody wrote under the new ones', true],
  ] as const) {
    it(`who changes the number keeps id, session and paid conversation, told ${what}`, async () => {
      const account = await makeAccount(world.store.db, 10);
      await writes(account, OLD, { names: [OLD, OLD_ID] });
      expect(await newAccepter().accept(account, makeTextDraft({ to: OLD }))).to.include({ credits: 1 });
      if (later) await writes(account, NEW, { names: [NEW, NEW_ID] });

      await tell(account, changed);

      for (const to of [NEW, NEW_ID, OLD_ID, OLD]) {
        const outcome = await newAccepter().accept(account, makeTextDraft({ to }));
        expect(outcome, to).to.include({ kind: 'accepted', credits: 0 });
      }
      expect(customerOf(account, await person(account, NEW_ID))).to.include({
        ...{ id: customerId(account, OLD), number: NEW, user_id: NEW_ID },
      });
      expect((await accountOf(account)).balance).to.equal(9);
      await expectWholeLedger(account);
    });
  }

  it('a number that was left is not given out, also when nobody tells the new one, until the person is back', async () => {
    const account = newId('acc');
    await writes(account, OLD_ID, { names: [OLD_ID], profile: { userId: OLD_ID } });
    await tell(account, { names: [OLD_ID, OLD], profile: { number: OLD } });
    const seen = async () => customerOf(account, await person(account, NEW_ID));

    await tell(account, { names: [OLD_ID, NEW_ID], profile: { userId: NEW_ID }, changed: 'number' });
    expect(await seen()).to.deep.equal({ id: customerId(account, OLD_ID), user_id: NEW_ID });

    await tell(account, { names: [NEW_ID, OLD], profile: { number: OLD }, changed: 'number' });
    expect(await seen()).to.include({ number: OLD });
  });

  it('a conversation with a user id is paid once, whatever it is called later', async () => {
    const account = await makeAccount(world.store.db, 10);
    await writes(account, OLD_ID, { profile: { userId: OLD_ID } });
    await newAccepter().accept(account, makeTextDraft({ to: OLD_ID }));

    await writes(account, OLD, { names: [OLD, OLD_ID, PARENT] });

    for (const to of [OLD, OLD_ID, PARENT]) {
      expect(await newAccepter().accept(account, makeTemplateDraft({ to })), to).to.include({ credits: 0 });
    }
    expect(await chargesOf(account)).to.have.lengthOf(1);
  });

  it('two callbacks at once, and 20 times, lose nothing of what each tells', async () => {
    for (let i = 0; i < 20; i++) {
      const account = newId('acc');
      await Promise.all([
        customerWrites(world.store.db, account, OLD),
        customerWrites(world.store.db, account, OLD_ID),
      ]);
      const tolds = [
        { names: [OLD, OLD_ID] },
        { names: [OLD_ID, PARENT], profile: { parentId: PARENT } },
        { names: [OLD], profile: { username: 'asha' } },
        changed,
      ];
      await Promise.all(tolds.map((told) => tell(account, told)));
      const all = new Set([OLD, OLD_ID, PARENT, NEW, NEW_ID]);
      for (const asked of [...all, 'asha'])
        expect(new Set((await person(account, asked)).names), asked).to.deep.equal(all);
    }
  });

  it('what is told of strangers makes nobody, and what is done before a link is done again', async () => {
    const account = newId('acc');
    await tell(account, changed);
    expect(await world.store.db.collection('conversations').countDocuments({ account })).to.equal(0);

    await writes(account, OLD);
    const joined: (readonly string[])[] = [];
    const link = (fails: boolean) =>
      linkCustomers(world.store.db, [{ account, ...changed }], new Date(), async ({ names }) => {
        joined.push(names);
        if (fails) throw new Error('killed');
      });
    await link(true).catch(() => {});
    await link(false);
    await link(false);
    expect(joined.map((names) => new Set(names))).to.deep.equal([new Set(changed.names), new Set(changed.names)]);
  });

  it('a number that was left and has another owner is another person', async () => {
    const account = newId('acc');
    await writes(account, OLD, { names: [OLD, OLD_ID], profile: { userId: OLD_ID, name: 'Asha' } });
    await tell(account, { ...changed, wroteAt: new Date(Date.now() - 60_000) });
    await addOptIns(world.store.db, systemClock, account, [OLD]);
    const stranger = 'IN.7000000000000007';

    await writes(account, OLD, { names: [OLD, stranger], profile: { userId: stranger, name: 'Ravi' } });

    const [ravi, asha] = [await person(account, OLD), await person(account, NEW)];
    expect(ravi.names).to.deep.equal([OLD, stranger]);
    expect(asha.names).not.to.include(OLD);
    expect(customerOf(account, ravi)).to.include({ name: 'Ravi', user_id: stranger });
    expect(customerOf(account, ravi).id).not.to.equal(customerOf(account, asha).id);
  });

  it('keys have a most: user ids and user names without end leave few', async () => {
    const account = newId('acc');
    await customerWrites(world.store.db, account, OLD);
    for (let i = 0; i < 40; i++) await tell(account, { names: [OLD, `IN.${i}`], profile: { username: `name${i}` } });

    const [document] = await world.store.db
      .collection<ConversationDocument>('conversations')
      .find({ account })
      .toArray();
    expect(document?.keys).to.have.lengthOf.at.most(16);
    expect(document?.keys?.[0]).to.equal(`${account}:${customerId(account, OLD)}`);
  });
});
