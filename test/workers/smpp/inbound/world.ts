import type { MobileOriginated } from '../../../../scripts/simulator/smsc/mailboxes.ts';
import { type PhoneText, phoneParts } from '../../../../scripts/simulator/smsc/phone-text.ts';
import { addNumber } from '../../../../shared/carriers/numbers/store.ts';
import type { InboundSmsDocument } from '../../../../shared/messages/document/any-message.ts';
import type { InboundDocument } from '../../../../shared/messages/inbound.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { type World, type WorldOptions, worldPerTest } from '../../../support/smpp-world.ts';

export const PHONE = '919811112222';
export const NUMBER = '919000000001';

/** A world whose account has a number, and phones that write to it. */
export interface InboundWorld extends World {
  /** Sends a phone's text as deliver_sm. `order` may reorder a long text's parts. */
  says(message: Partial<PhoneText>, order?: (parts: MobileOriginated[]) => MobileOriginated[]): void;
  /** Waits until the account has received `count` messages, oldest first. */
  received(count: number): Promise<InboundSmsDocument[]>;
  /** The metric of received messages for this result. */
  counted(result: string): Promise<number>;
  /** The deliver_sm that the worker keeps. */
  kept(): Promise<InboundDocument[]>;
}

export function inboundWorldPerTest(): (options?: WorldOptions) => Promise<InboundWorld> {
  const open = worldPerTest();
  return async (options) => {
    const world = await open(options);
    const { db, smsc, account, metrics } = world;
    await addNumber(db, systemClock, { number: NUMBER, keyword: '', account });
    await eventually(() => smsc.stats().binds >= (options?.carrier?.binds ?? 1), 'it is bound');
    const messages = db.collection<InboundSmsDocument>('messages');
    return {
      ...world,
      says(message, order = (parts) => parts) {
        const parts = phoneParts({ from: PHONE, to: NUMBER, text: 'yes', ...message });
        for (const part of order(parts)) smsc.sendMo(part);
      },
      received: (count) =>
        eventually(async () => {
          const found = await messages.find({ direction: 'in' }).sort({ _id: 1 }).toArray();
          if (found.length < count) throw new Error(`${found.length} of ${count}`);
          return found;
        }, `${count} are received`),
      async counted(result) {
        const metric = await metrics.registry.getSingleMetric('harkara_smpp_inbound_total')?.get();
        return metric?.values.find(({ labels }) => labels.result === result)?.value ?? 0;
      },
      kept: () => db.collection<InboundDocument>('inbound').find().sort({ _id: 1 }).toArray(),
    };
  };
}

export function bodies(messages: readonly InboundSmsDocument[]): string[] {
  return messages.map(({ inbound }) => inbound.body);
}
