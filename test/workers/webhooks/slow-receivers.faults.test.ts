import type { ServerResponse } from 'node:http';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { newSecret } from '../../../shared/events/webhooks/endpoint-store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { IN_FLIGHT_MAX } from '../../../workers/webhooks/endpoint-queues.ts';
import { makeDelivery, makeEndpoint, present } from '../../shared/events/webhooks/make.ts';
import { eventually } from '../../support/eventually.ts';
import type { Receiver } from './receiver.ts';
import { WebhookWorld } from './world.ts';

describe('webhooks worker: slow receivers', () => {
  const world = WebhookWorld.use();

  describe('beside receivers that do not answer in time', () => {
    const PATIENCE_MS = 60_000;
    const endpoints = () => world().db.collection<EndpointDocument>('endpoints');

    /** Endpoints below one URL with due deliveries, stored directly because the API allows ten for each account. */
    async function storeDue(url: string, due: readonly (readonly [AccountId, number])[], each: number): Promise<void> {
      const made = due.flatMap(([account, count]) =>
        Array.from({ length: count }, (_, n) => {
          const _id = newId('whk');
          const sealed = world().box.seal(newSecret(), ['endpoints', _id, 'secrets.sealed']);
          return makeEndpoint({ _id, account, url: `${url}/${account}/${n}`, secrets: [{ sealed }] });
        }),
      );
      await endpoints().insertMany(made);
      const deliveries = made.flatMap(({ _id, account }) =>
        Array.from({ length: each }, () => makeDelivery({ endpoint: _id, account })),
      );
      await deliveriesOf(world().db).insertMany(deliveries);
    }

    /** Answers when the test ends, so that the worker stops without waiting. */
    class SlowReceiver {
      readonly #unanswered: ServerResponse[] = [];
      #over = false;

      start(): Promise<Receiver> {
        return world().receiver((_, res) => {
          if (this.#over) res.end();
          else this.#unanswered.push(res);
        });
      }

      end(): void {
        this.#over = true;
        for (const res of this.#unanswered) res.end();
      }
    }

    const rows: readonly (readonly [string, readonly (readonly [AccountId, number])[], number])[] = [
      ['ten endpoints with 2,000 deliveries', [['acc_slow', 10]], 200],
      ['700 endpoints of one account', [['acc_slow', 700]], 1],
      [
        '60 accounts that name the same machine',
        Array.from({ length: 60 }, (_, n) => [`acc_slow${n}`, 10] as const),
        2,
      ],
    ];
    for (const [what, due, each] of rows) {
      it(`another account’s webhook leaves at once: ${what}`, async () => {
        const slowReceiver = new SlowReceiver();
        const slow = await slowReceiver.start();
        const fast = await world().receiver();
        const neighbour = await world().register(fast.url);
        await storeDue(slow.url, due, each);
        await world().startWorker({ timeoutMs: PATIENCE_MS, clock: systemClock });
        world().onClose(async () => slowReceiver.end());

        // The slow receiver has its most simultaneous posts: none was added while the neighbour got ten.
        let held = 0;
        for (let unchanged = 0, arrived = 1; unchanged < 10; arrived++) {
          const [delivery] = await world().deliver(neighbour);
          await eventually(() => fast.received.length === arrived, `the neighbour’s, beside ${held}`, PATIENCE_MS / 2);
          expect(fast.received.at(-1)?.body).to.equal(present(delivery).body);
          unchanged = slow.received.length > held || held === 0 ? 0 : unchanged + 1;
          held = slow.received.length;
        }

        expect(held).to.be.within(1, IN_FLIGHT_MAX / 2);
      });
    }
  });
});
