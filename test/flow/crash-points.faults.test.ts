import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { CRASH_POINTS } from '../../shared/platform/runtime/crash-point.ts';
import { eventId } from '../../shared/platform/runtime/ids.ts';
import { type Case, crashCases, FIRST_POST_FAILS, type Numbers, SETTLED_MS } from '../support/crash-cases.ts';
import { inboundCases } from '../support/crash-cases-inbound.ts';
import { mailCases } from '../support/crash-cases-mail.ts';
import { templateCases } from '../support/crash-cases-templates.ts';
import { eventually } from '../support/eventually.ts';
import { useProduct } from '../support/product.ts';

describe('kill at every named place between two effects', function () {
  this.timeout(2 * SETTLED_MS);
  const product = useProduct({
    gateways: 1,
    mail: true,
    // Long enough for statuses of sent messages; claimed but unsent ones lost their worker to a later case.
    chatapp: { unknowns: { unknownPolicy: 'resend', unknownWaitMs: 30_000 } },
    smsc: { receiptDelayMs: 100 },
    receiver: {
      respond: ({ json, tries }) =>
        String(json.to).endsWith(FIRST_POST_FAILS) && tries === 1 ? { status: 500 } : undefined,
    },
    carrier: { paths: ['transactional'], responseTimeoutMs: 30_000, unknownWaitMs: 4_000, unknownPolicy: 'resend' },
  });
  const used = new Map<number, readonly string[]>();

  const CASES = [crashCases, inboundCases, templateCases, mailCases].flatMap((cases) => cases(() => product));
  const numbersOf = (index: number): Numbers => {
    const tag = String(index + 10);
    return (count, ending = '900') => {
      const numbers = Array.from({ length: count }, (_, i) => `91${tag}${String(i).padStart(5, '0')}${ending}`);
      used.set(index, numbers);
      return numbers;
    };
  };
  const nameOf = ({ point, pass = 1 }: Case): string => (pass === 1 ? point : `${point}, pass ${pass}`);

  for (const [index, one] of CASES.entries()) {
    const { point, app, after, pass = 1, prepare, act } = one;
    it(`${nameOf(one)}: a process of ${app} dies there, and its successor starts`, async () => {
      await prepare?.(numbersOf(index));
      const died = await product.arm(app, ...(after === undefined ? [] : [after]), `${point}#${pass}`);

      const [exit] = await Promise.all([died(), act(numbersOf(index))]);

      expect(exit).deep.include({ app, signal: 'SIGKILL' });
    });
  }

  for (const [index, one] of CASES.entries()) {
    const { ends, resent = 0 } = one;
    it(`${nameOf(one)}: all is final, once, paid once, told once`, async () => {
      const recipients = used.get(index) ?? [];
      const messages = product.db.collection<AnyMessage>('messages');
      const stored = await eventually(
        async () => {
          const found = await messages
            .find({ $or: [{ to: { $in: [...recipients] } }, { from: { $in: [...recipients] } }] })
            .toArray();
          const states = new Map<string, number>();
          for (const { state } of found) states.set(state, (states.get(state) ?? 0) + 1);
          expect([...states]).to.have.deep.members(ends.map(({ state, count }) => [state, count]));
          return found;
        },
        `the messages of ${nameOf(one)}`,
        SETTLED_MS,
      );

      for (const { history } of stored) {
        expect(new Set(history.map(({ state }) => state)).size, JSON.stringify(history)).equal(history.length);
      }
      const events = stored.flatMap(({ _id, history }) => history.map(({ state }) => eventId(_id, state))).sort();
      await eventually(
        () => {
          const posts = product.receiver
            .received()
            .filter(({ json }) => [json.from, json.recipient, json.to].some((one) => recipients.includes(String(one))));
          expect([...new Set(posts.map(({ id }) => id))].sort()).deep.equal(events);
          return true;
        },
        `the events of ${nameOf(one)}`,
        SETTLED_MS,
      );
      const submits = [...product.smsc.messages(), ...(product.provider?.taken() ?? [])].filter(({ to }) =>
        recipients.includes(to),
      ).length;
      expect(submits).at.most(stored.filter(({ state }) => state !== 'rejected').length + resent);
    });
  }

  it('the ledger is whole, and the account paid for exactly what was not given back', async () => {
    const paid = CASES.flatMap(({ ends }) => ends)
      .filter(({ refunded }) => refunded === undefined)
      .reduce((sum, { count, price = 1 }) => sum + count * price, 0);

    await eventually(
      async () => {
        const { problems, balance } = await verifyLedger(product.db, product.account);
        expect(problems).deep.equal([]);
        expect(balance).equal(product.credits - paid);
        return true;
      },
      'the balance',
      SETTLED_MS,
    );
  });

  it('nothing stays of what was stored to be paid and never was', async () => {
    await eventually(
      async () => {
        const [unpaid, chunks] = await Promise.all([
          product.db.collection('batches').countDocuments({ state: 'unpaid' }),
          product.db.collection('batch_chunks').countDocuments({}),
        ]);
        expect({ unpaid, chunks }).deep.equal({ unpaid: 0, chunks: 0 });
        return true;
      },
      'the removal of unpaid batches',
      SETTLED_MS,
    );
  });

  it('every crash point has its case', () => {
    const points = new Set(CASES.map(({ point }) => point));
    expect([...points].sort()).deep.equal(Object.keys(CRASH_POINTS).sort());
  });
});
