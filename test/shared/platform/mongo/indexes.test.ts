import { expect } from 'chai';
import type { DeliveryState } from '../../../../shared/events/webhooks/delivery.ts';
import type { BatchState } from '../../../../shared/messages/batch.ts';
import { STATES } from '../../../../shared/messages/document/status.ts';
import { ensureIndexes, INDEXES } from '../../../../shared/platform/mongo/indexes.ts';
import { RARE_STATES } from '../../../../shared/platform/mongo/message-indexes.ts';
import { useStore } from '../../../support/store.ts';

describe('the indexes of the product', () => {
  const store = useStore();

  const names = async (): Promise<readonly string[]> =>
    (await store.db.collection('messages').indexes()).map(({ name }) => String(name));

  it('are made, also by several processes at once', async () => {
    await Promise.all([ensureIndexes(store.db), ensureIndexes(store.db)]);
    await ensureIndexes(store.db);

    const wanted = INDEXES.filter(({ collection }) => collection === 'messages').map(({ options }) => options.name);
    expect(await names()).to.have.members(['_id_', ...wanted]);
  });

  it('have filters of forms that every server of the protocol knows', () => {
    const forms = INDEXES.flatMap(({ options: { partialFilterExpression = {} } }) =>
      Object.values(partialFilterExpression).flatMap((test) =>
        typeof test === 'object' && test !== null ? Object.keys(test) : ['equal'],
      ),
    );

    expect(new Set(forms)).to.deep.equal(new Set(['equal', '$exists', '$gte', '$lte']));
  });

  /** The states that the ranges of these indexes take in, by name. */
  const inRanges = (collection: string, states: readonly string[]) =>
    INDEXES.filter((index) => index.collection === collection).flatMap(
      ({ options: { name, partialFilterExpression } }) => {
        const test: unknown = partialFilterExpression?.state;
        if (typeof test !== 'object' || test === null) return [];
        const { $gte = '', $lte = '\uffff' }: { $gte?: string; $lte?: string } = test;
        return states.filter((state) => state >= $gte && state <= $lte).map((state) => [state, name]);
      },
    );

  it('take in the states of their lists and no others', () => {
    const batches: readonly BatchState[] = ['unpaid', 'booked', 'paid', 'split', 'stopping', 'stopped'];
    const deliveries: readonly DeliveryState[] = ['due', 'waiting', 'done', 'exhausted'];

    expect(inRanges('messages', Object.keys(STATES))).to.have.deep.members(Object.entries(RARE_STATES));
    expect(inRanges('deliveries', deliveries)).to.have.deep.members([
      ['waiting', 'failed_tries'],
      ['exhausted', 'failed_tries'],
    ]);
    expect(inRanges('batches', batches).map(([state]) => state)).to.have.members([
      'paid',
      'split',
      'stopping',
      'stopped',
    ]);
  });
});
