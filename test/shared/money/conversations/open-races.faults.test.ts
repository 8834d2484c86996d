import { topUp } from '../../../../shared/money/ledger/change.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { chatMessagesOf, customerWrites, makeTemplateDraft } from '../../../support/chat.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { CUSTOMER, openingWorld } from '../../../support/opening-world.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('conversations/open: at the same moment', () => {
  const world = openingWorld();
  const { newAccepter, accountOf, conversationOf, chargesOf, expectWholeLedger } = world;

  it('opens one conversation and charges once when two gateways accept the first message at once, 200 times', async () => {
    const account = await makeAccount(world.store.db, 400);
    const gateways = [newAccepter(), newAccepter()];

    for (let i = 0; i < 200; i++) {
      const to = `9198765${String(i).padStart(5, '0')}`;
      const outcomes = await Promise.all(gateways.map((gateway) => gateway.accept(account, makeTemplateDraft({ to }))));
      const credits = outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.credits : outcome.kind));
      expect(credits.sort(), to).to.deep.equal([0, 2]);
    }

    const messages = await chatMessagesOf(world.store.db, account);
    const charges = await chargesOf(account);
    expect(messages).to.have.lengthOf(400);
    expect(charges).to.have.lengthOf(200);
    for (const { reference } of charges) {
      const within = messages.filter(({ conversation }) => conversation === reference);
      expect(within).to.have.lengthOf(2);
      expect(within.filter(({ opened }) => opened !== undefined)).to.have.lengthOf(1);
    }
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });

  it('lets four gateways of one account through that all open conversations without a pause', async () => {
    const account = await makeAccount(world.store.db, 400);
    const gateways = Array.from({ length: 4 }, () => newAccepter());

    await Promise.all(
      gateways.map(async (gateway, g) => {
        for (let i = 0; i < 50; i++) {
          const to = `91987${g}${String(i).padStart(6, '0')}`;
          expect(await gateway.accept(account, makeTemplateDraft({ to }))).to.include({ kind: 'accepted', credits: 2 });
        }
      }),
    );

    expect((await accountOf(account)).balance).to.equal(0);
    expect(await chargesOf(account)).to.have.lengthOf(200);
    await expectWholeLedger(account);
  });

  it('keeps the ledger whole at every moment while SMS, conversations and top-ups change one balance', async () => {
    const account = await makeAccount(world.store.db, 200);
    const sms = new GroupAccepter({ db: world.store.db, clock: systemClock, log: silentLog });
    const gateways = [newAccepter(), newAccepter()];
    let flowing = true;
    const watch = async (): Promise<void> => {
      do await expectWholeLedger(account);
      while (flowing);
    };
    const flow = async (): Promise<void> => {
      await Promise.all([
        ...Array.from({ length: 60 }, () => sms.accept(account, [makeDraft()])),
        ...gateways.flatMap((gateway, g) =>
          Array.from({ length: 30 }, (_, i) =>
            gateway.accept(account, makeTemplateDraft({ to: `91987654${g}${String(i).padStart(3, '0')}` })),
          ),
        ),
        ...Array.from({ length: 10 }, (_, i) => topUp(world.store.db, account, 1, `more-${i}`)),
      ]);
      flowing = false;
    };

    await Promise.all([watch(), flow()]);

    expect((await accountOf(account)).balance).to.equal(200 - 60 - 120 + 10);
    expect(await chargesOf(account)).to.have.lengthOf(60);
    await expectWholeLedger(account);
  });

  it('loses neither when customer and business write at once', async () => {
    for (let i = 0; i < 50; i++) {
      const account = await makeAccount(world.store.db, 10);
      const [, outcome] = await Promise.all([
        customerWrites(world.store.db, account, CUSTOMER),
        newAccepter().accept(account, makeTemplateDraft()),
      ]);

      if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
      const conversation = await conversationOf(account);
      expect(conversation?.lastInboundAt).to.be.instanceOf(Date);
      expect(conversation?.current?.id).to.equal(outcome.conversation);
      expect(conversation?.current?.credits).to.equal(conversation?.current?.by === 'user' ? 1 : 2);
      expect(await chargesOf(account)).to.have.lengthOf(1);
    }
  });
});
