import { conversationKey } from '../../../../shared/money/conversations/conversation.ts';
import { personOf, readCustomers, sessionOf } from '../../../../shared/money/conversations/person.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { linkCustomers } from '../../../../workers/chatapp/customers.ts';
import { customerWrites, makeTemplateDraft, makeTextDraft } from '../../../support/chat.ts';
import { makeAccount } from '../../../support/make.ts';
import { HOUR_MS, openingWorld } from '../../../support/opening-world.ts';

/** The number as the account writes it, and as the provider knows it. */
const TYPED = '5531987654321';
const KNOWN = '553187654321';

describe('conversations/person: one person with several names', () => {
  const world = openingWorld();
  const { newAccepter, accountOf, conversationOf, chargesOf, expectWholeLedger } = world;
  const link = (account: AccountId, customer = TYPED, alias = KNOWN) =>
    linkCustomers(world.store.db, [{ account, names: [customer, alias] }], new Date());

  it('links two numbers both ways, once, whether they have documents or not', async () => {
    const account = newId('acc');
    await customerWrites(world.store.db, account, KNOWN);

    await Promise.all([link(account), link(account)]);
    await link(account);

    expect((await conversationOf(account, TYPED))?.aliases).to.deep.equal([KNOWN]);
    expect((await conversationOf(account, KNOWN))?.aliases).to.deep.equal([TYPED]);
  });

  it('finds the numbers of a person from each of them; a link that was stored by half holds when it is whole', async () => {
    const account = newId('acc');
    const third = '5531900000000';
    await link(account);
    await link(account, KNOWN, third);
    await world.store.db
      .collection<{ _id: string }>('conversations')
      .updateOne({ _id: conversationKey(account, third) }, { $unset: { aliases: '' } });

    const from = async (customer: string) => {
      const documents = await readCustomers(world.store.db, [conversationKey(account, customer)]);
      return personOf(documents, account, customer).names;
    };

    expect(await from(TYPED)).to.deep.equal([TYPED, KNOWN]);
    expect(await from(third)).to.deep.equal([third]);
    await link(account, KNOWN, third);
    expect(await from(TYPED)).to.deep.equal([TYPED, KNOWN, third]);
    expect(await from(third)).to.deep.equal([third, KNOWN, TYPED]);
  });

  it('a person has nine documents at most: what is told beyond makes none', async () => {
    const account = newId('acc');
    const aliases = Array.from({ length: 12 }, (_, i) => `55318765432${String(i).padStart(2, '0')}`);

    for (const alias of aliases) await link(account, TYPED, alias);

    expect((await conversationOf(account, TYPED))?.aliases).to.deep.equal(aliases.slice(0, 8));
    expect(await world.store.db.collection('conversations').countDocuments({ account })).to.equal(9);
  });

  it('knows nothing of the numbers of another account', async () => {
    const [account, other] = [newId('acc'), newId('acc')];
    await link(account);
    await customerWrites(world.store.db, account, KNOWN);

    const documents = await readCustomers(world.store.db, [
      conversationKey(other, TYPED),
      conversationKey(account, TYPED),
    ]);

    expect(sessionOf(personOf(documents, account, TYPED))).to.have.property('lastInboundAt');
    expect(sessionOf(personOf(documents, other, TYPED))).to.deep.equal({});
  });

  for (const first of [TYPED, KNOWN]) {
    const second = first === TYPED ? KNOWN : TYPED;

    it(`a conversation that was paid for as ${first} serves ${second}, and each free message says where it is`, async () => {
      const account = await makeAccount(world.store.db, 10);
      const opener = makeTemplateDraft({ to: first });
      const included = makeTemplateDraft({ to: second });
      await newAccepter().accept(account, opener);
      await link(account);

      const outcome = await newAccepter().accept(account, included);

      expect(outcome).to.include({ kind: 'accepted', credits: 0 });
      expect((await accountOf(account)).balance).to.equal(8);
      const stored = await world.store.db.collection<{ _id: string }>('messages').findOne({ _id: included._id });
      expect(stored).to.include({ to: second, customer: first, includedWith: opener._id });
      await expectWholeLedger(account);
    });

    it(`a message from ${first} opens the session of ${second}, at the customer's price`, async () => {
      const account = await makeAccount(world.store.db, 10);
      await link(account);
      const closed = await newAccepter().accept(account, makeTextDraft({ to: second }));
      expect(closed).to.include({ kind: 'session_closed' });
      await customerWrites(world.store.db, account, first);

      const outcomes = [
        await newAccepter().accept(account, makeTextDraft({ to: second })),
        await newAccepter().accept(account, makeTextDraft({ to: first })),
      ];

      expect(outcomes.map((outcome) => outcome.kind === 'accepted' && outcome.credits)).to.deep.equal([1, 0]);
    });
  }

  it('of two conversations that run under two numbers, messages go in the one that ends last', async () => {
    const account = await makeAccount(world.store.db, 10);
    const hours = (n: number) => ({
      now: () => new Date(Date.now() + n * HOUR_MS),
      monotonicMs: () => performance.now(),
    });
    const [early, late] = [makeTemplateDraft({ to: KNOWN }), makeTemplateDraft({ to: TYPED })];
    await newAccepter(hours(-20)).accept(account, early);
    await newAccepter(hours(-10)).accept(account, late);
    await link(account);

    const outcomes = [];
    for (const to of [TYPED, KNOWN]) outcomes.push(await newAccepter().accept(account, makeTemplateDraft({ to })));

    const current = (await conversationOf(account, TYPED))?.current?.id;
    expect(outcomes.map((outcome) => outcome.kind === 'accepted' && outcome.conversation)).to.deep.equal([
      current,
      current,
    ]);
    expect((await accountOf(account)).balance).to.equal(6);
  });

  it('one conversation is paid when two gateways write to both numbers at once, 100 times', async () => {
    const account = await makeAccount(world.store.db, 200);
    const gateways = [newAccepter(), newAccepter()] as const;

    for (let i = 0; i < 100; i++) {
      const known = `5531${String(80_000_000 + i)}`;
      const typed = `55319${String(80_000_000 + i)}`;
      await link(account, typed, known);
      const outcomes = await Promise.all([
        gateways[0].accept(account, makeTemplateDraft({ to: typed })),
        gateways[1].accept(account, makeTemplateDraft({ to: known })),
        gateways[i % 2 ? 0 : 1].accept(account, makeTemplateDraft({ to: typed })),
      ]);
      const credits = outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.credits : outcome.kind));
      expect(credits.sort(), typed).to.deep.equal([0, 0, 2]);
    }

    expect(await chargesOf(account)).to.have.lengthOf(100);
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });

  it('a link that is stored while gateways decide charges nobody more than two numbers that are two persons', async () => {
    const account = await makeAccount(world.store.db, 400);

    for (let i = 0; i < 50; i++) {
      const known = `5531${String(70_000_000 + i)}`;
      const typed = `55319${String(70_000_000 + i)}`;
      const to = [typed, known, typed, known];
      const accepters = to.map(() => newAccepter());
      await Promise.all([
        link(account, typed, known),
        ...to.map((number, n) => accepters[n]?.accept(account, makeTemplateDraft({ to: number }))),
      ]);
      const charged = await chargesOf(account);
      const further = await newAccepter().accept(account, makeTemplateDraft({ to: known }));
      expect(further, 'from now on it is one person').to.include({ kind: 'accepted', credits: 0 });
      expect(await chargesOf(account)).to.have.lengthOf(charged.length);
    }

    const charges = (await chargesOf(account)).length;
    expect(charges).to.be.within(50, 100);
    expect((await accountOf(account)).balance).to.equal(400 - 2 * charges);
    await expectWholeLedger(account);
  });
});
