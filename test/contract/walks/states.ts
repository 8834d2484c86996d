import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../client.ts';
import { TIMESTAMP } from '../shape.ts';
import { MESSAGE_STATES } from '../tables/states.ts';
import { SETTLE_MS, type World } from '../world.ts';

/** Every path through the states, seen through the status endpoint. */
export function walkStates(world: () => World): void {
  for (const { channel, ending, path, refunded } of MESSAGE_STATES) {
    it(`${channel}: ${path.join(' → ')}${refunded ? ', and the credit comes back' : ''}`, async () => {
      const { client } = world();
      // Nobody else spends the credits of this account.
      const key = channel === 'sms' ? world().otherKey : world().key;
      const before = await balance(world(), key);
      const sent = await client.call({
        method: 'POST',
        path: channel === 'sms' ? '/v2/send' : '/v2/chatapp/send',
        key,
        body: {
          to: `919876505${ending}`,
          ...(channel === 'sms'
            ? { message: 'By the book', sender: 'HARKRA' }
            : { template: 'order_update', language: 'en_US', params: ['Asha', '1234'] }),
        },
      });
      expect(sent.status, sent.text).to.equal(200);

      const record = await eventually(
        async () => {
          const { body } = await client.call({ method: 'GET', path: `/v2/status/${sent.body.message_id}`, key });
          if (body.status !== path.at(-1)) throw new Error(JSON.stringify(body));
          return body;
        },
        `${channel} ${ending} ${path.at(-1)}`,
        SETTLE_MS,
      );

      expect(statusesOf(record)).to.deep.equal(path);
      const delivered = path.includes('delivered') || path.includes('read');
      if (delivered) expect(record.delivered_at).to.match(TIMESTAMP);
      else expect(record.delivered_at).to.equal(null);
      if (delivered) expect(record.operator).to.be.a('string').and.not.empty;
      if (channel === 'chatapp') return;
      const left = before - (refunded ? 0 : 1);
      await eventually(async () => (await balance(world(), key)) === left, `a balance of ${left}`, SETTLE_MS);
    });
  }
}

function statusesOf({ timeline }: Answer['body']): string[] {
  if (!Array.isArray(timeline)) return [];
  return timeline.map(({ status, at }: { readonly status: string; readonly at: string }) => {
    expect(at).to.match(TIMESTAMP);
    return status;
  });
}

export async function balance({ client }: World, key: string): Promise<number> {
  return Number((await client.call({ method: 'GET', path: '/v2/balance', key })).body.balance);
}
