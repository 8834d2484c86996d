import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { newId } from '../../../shared/runtime/ids.ts';
import type { Completion } from '../../../shared/webhooks/delivery-store.ts';
import { Completer } from '../../../workers/webhooks/complete.ts';
import { makeDelivery } from '../../shared/webhooks/make.ts';
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
