import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import type { Completion } from '../../../shared/events/webhooks/delivery-store.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { Completer } from '../../../workers/webhooks/complete.ts';
import { makeDelivery } from '../../shared/events/webhooks/make.ts';
import { silentLog } from '../../support/silent-log.ts';

describe('webhooks worker: completer', () => {
  it('a completion that the store refuses is refused alone: the others of its group are written', async () => {
    const completions = Array.from({ length: 20 }, (): Completion => {
      return { id: makeDelivery({ endpoint: newId('whk') })._id, state: 'done' };
    });
    const bad = completions[7];
    const written: Completion[] = [];
    const completer = new Completer({
      log: silentLog,
      write: async (group) => {
        if (group.some((one) => one === bad)) throw new MongoServerError({ code: 10_334, errmsg: 'too large' });
        written.push(...group);
      },
    });

    const results = await Promise.allSettled(completions.map((one) => completer.complete(one)));

    const refused = completions.filter((_, i) => results[i]?.status === 'rejected');
    expect(refused).to.deep.equal([bad]);
    expect(written).to.have.members(completions.filter((one) => one !== bad));
  });
});
