import { phoneParts } from '../../scripts/simulator/smsc/phone-text.ts';
import { findNumber } from '../../shared/carriers/numbers/store.ts';
import { type Case, SETTLED_MS } from './crash-cases.ts';
import { eventually } from './eventually.ts';
import type { Product } from './product.ts';

/** Crashes around a handset's SMS, which is stored, announced and answered once. */
export function inboundCases(product: () => Product): readonly Case[] {
  const RECEIVES = '919000000001';
  const ANSWERS = '919000000078';
  /** A long text and a short one of a handset, over SMPP. */
  const handsetWrites: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    async prepare() {
      const { ops, account, db } = product();
      if ((await findNumber(db, RECEIVES)).length === 0) await ops(`number add ${RECEIVES} ${account}`);
    },
    async act(numbers) {
      const [from = ''] = numbers(1);
      const texts = ['yes', 'Where is my order? '.repeat(20)];
      for (const text of texts)
        for (const part of phoneParts({ from, to: RECEIVES, text, systemId: 'harkara' })) product().smsc.sendMo(part);
    },
    ends: [{ count: 2, state: 'received', price: 0 }],
  };
  const handsetOptsOut: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    ...handsetWrites,
    async act(numbers) {
      const [from = ''] = numbers(1);
      for (const part of phoneParts({ from, to: RECEIVES, text: 'STOP', systemId: 'harkara' }))
        product().smsc.sendMo(part);
      const { db } = product();
      await eventually(
        async () => (await db.collection('opt_outs').countDocuments({ customer: from, out: true })) === 1,
        'the customer is on the list',
        SETTLED_MS,
      );
    },
    ends: [{ count: 1, state: 'received', price: 0 }],
  };
  const handsetIsAnswered: Pick<Case, 'prepare' | 'act' | 'ends'> = {
    async prepare() {
      const { ops, account, db } = product();
      if ((await findNumber(db, ANSWERS)).length > 0) return;
      await ops(`number add ${ANSWERS} ${account}`);
      await ops(`opt-out words ${account} --number ${ANSWERS} --stop-answer Stopped.`);
    },
    async act(numbers) {
      const [from = ''] = numbers(1);
      for (const part of phoneParts({ from, to: ANSWERS, text: 'STOP', systemId: 'harkara' }))
        product().smsc.sendMo(part);
    },
    ends: [
      { count: 1, state: 'received', price: 0 },
      { count: 1, state: 'delivered' },
    ],
  };
  return [
    { point: 'inbound:stored', app: 'smpp', ...handsetWrites },
    { point: 'inbound:opted_out', app: 'smpp', ...handsetOptsOut },
    { point: 'answer:due', app: 'smpp', ...handsetIsAnswered },
    { point: 'answer:paid', app: 'smpp', ...handsetIsAnswered },
    { point: 'inbound:inserted', app: 'smpp', ...handsetWrites },
    { point: 'inbound:announced', app: 'smpp', ...handsetWrites },
  ];
}
