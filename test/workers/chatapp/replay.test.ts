import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProvider } from '../../../shared/carriers/providers/store.ts';
import type { InboundMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { balanceOf } from '../../support/balance.ts';
import { callbackSignature } from '../../support/chat-callback.ts';
import { openGateway } from '../../support/gateway.ts';
import { use } from '../../support/use.ts';
import { inboxWorld } from './inbox-world.ts';

/**
 * A callback of the provider at the end of 2026, built by hand from `source`, and its effect: a message of this type is
 * `received`, or our `message` (`wamid.<n>`) is in this `state`. Others change no message.
 */
interface Callback {
  readonly what: string;
  readonly source: string;
  readonly field: string;
  readonly value: object;
  readonly received?: string;
  readonly message?: number;
  readonly state?: string;
}

const CALLBACKS: readonly Callback[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/chatapp-callbacks/2026.json'), 'utf8'),
);

describe('callbacks of the end of 2026, by the endpoint into a running worker', () => {
  const { world, sent, workedOff } = inboxWorld();
  const gateway = use(() => openGateway(world.store.db));

  it('each is answered with 200 and read, posted twice it counts once; nothing is lost, nothing is charged', async () => {
    const account = await world.openAccount();
    const { db } = world.store;
    const provider = await findProvider(db, account.number);
    const messages = await Promise.all([1, 2, 3, 4, 5].map((n) => sent(account, n, { to: '919876543210' })));
    await world.startWorker();
    const now = String(Math.floor(Date.now() / 1_000));

    const states: (readonly [what: string, state: string | undefined, wanted: string | undefined])[] = [];
    for (const { what, field, value, message, state } of CALLBACKS) {
      const post = {
        object: 'whatsapp_business_account',
        entry: [{ id: '2055', time: Number(now), changes: [{ field, value }] }],
      };
      const body = JSON.stringify(post).replaceAll('{now}', now);
      for (const _ of ['first', 'repeated']) {
        const answer = await fetch(`${gateway.url}/chatapp/callback/${provider?.callback}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-hub-signature-256': callbackSignature(body) },
          body,
        });
        expect(answer.status, what).to.equal(200);
        await workedOff();
      }
      const ours = message === undefined ? undefined : messages[message - 1];
      if (ours !== undefined) states.push([what, (await world.read(ours._id)).state, state]);
    }

    const stored = await db
      .collection<InboundMessageDocument>('messages')
      .find({ account: account.id, direction: 'in' })
      .sort({ upstreamId: 1 })
      .toArray();
    const received = CALLBACKS.flatMap((one) => one.received ?? []);
    expect(stored.map(({ inbound }) => inbound.type)).to.have.members(received);
    expect(states.map(([what, state]) => [what, state])).to.deep.equal(
      states.map(([what, , wanted]) => [what, wanted]),
    );
    const told = (await world.events(account)).filter(({ event }) => event === 'message.received');
    expect(told.map(({ type }) => type)).to.have.members(received);
    expect(await balanceOf(db, account.id)).to.equal(1_000);
  });
});
