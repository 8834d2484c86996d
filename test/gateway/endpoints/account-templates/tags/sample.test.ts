import { expect } from 'chai';
import { sampleTexts } from '../../../../../gateway/endpoints/account-templates/tags/sample.ts';
import { hourName } from '../../../../../shared/messages/statistics-hour.ts';
import { lowestId } from '../../../../../shared/platform/runtime/ids.ts';
import { makeAccount } from '../../../../support/make.ts';
import { useStore } from '../../../../support/store.ts';

const OFTEN = '1107160000000000001';
const RARE = '1107160000000000002';
const NOW = Date.parse('2026-11-29T12:00:00Z');
const HOUR_MS = 3_600_000;

describe('the messages of a template', () => {
  const store = useStore();

  it('are found behind thousands of others by the hourly counts; what is older, or has no text any more, is not', async () => {
    const account = await makeAccount(store.db, 0);
    const message = (ms: number, template: string, text?: string) => ({
      ...{ _id: lowestId('msg', new Date(ms)), account, channel: 'sms', template },
      ...(text !== undefined && { text }),
    });
    const weekAgo = NOW - 168 * HOUR_MS;
    await store.db
      .collection<{ _id: string }>('messages')
      .insertMany([
        ...Array.from({ length: 5_100 }, (_, i) => message(NOW - i, OFTEN, `often ${i}`)),
        ...[message(weekAgo + 2, RARE, 'second'), message(weekAgo + 1, RARE, 'first'), message(weekAgo + 3, RARE)],
        message(NOW - 2_000 * HOUR_MS, RARE, 'too old'),
      ]);
    const hour = (ms: number, template: string, sent: number) => ({
      ...{ _id: `${account}:${hourName(new Date(ms))}`, account },
      traffic: [{ half: 0, channel: 'sms', template, states: { sent, delivered: 1 } }],
    });
    await store.db
      .collection<{ _id: string }>('statistics')
      .insertMany([hour(weekAgo, RARE, 2), hour(NOW - HOUR_MS, OFTEN, 5_099)]);

    const found = await sampleTexts(store.db, account, [OFTEN, RARE], new Date(NOW - 720 * HOUR_MS), 10);

    expect(found.texts.get(RARE)?.map(({ text }) => text)).to.deep.equal(['second', 'first']);
    expect(
      found.texts
        .get(OFTEN)
        ?.map(({ text }) => text)
        .slice(0, 2),
    ).to.deep.equal(['often 0', 'often 1']);
    expect(found.texts.get(OFTEN)).to.have.lengthOf(10);
    expect(Object.fromEntries(found.counted)).to.deep.equal({ [OFTEN]: 5_100, [RARE]: 3 });
    expect(found.looked).to.equal(5_003);
  });
});
