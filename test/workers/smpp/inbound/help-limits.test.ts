import { expect } from 'chai';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { type HelpRequest, limitHelp } from '../../../../workers/smpp/inbound/help-limits.ts';
import { useStore } from '../../../support/store.ts';

const T = Date.parse('2026-11-22T10:00:00Z');
const MINUTE = 60_000;

describe('how often HELP is answered', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(() => {
    account = newId('acc');
  });

  const asked = (minutes: number, more: Partial<HelpRequest> = {}): HelpRequest => ({
    ...{ _id: newId('msg'), account, from: '919876543210', to: '56767', word: 'help' },
    at: new Date(T + minutes * MINUTE),
    ...more,
  });
  const answered = async (requests: readonly HelpRequest[]): Promise<boolean[]> => {
    const found = await limitHelp(store.db, requests);
    return requests.map(({ _id }) => found.has(_id));
  };

  it('once in five minutes, also of one group; other words, numbers and customers count apart', async () => {
    const others = [{ word: 'info' }, { to: '56768' }, { from: '919876543211' }].map((more) => asked(1, more));

    const now = await answered([asked(0), asked(1), ...others]);
    const later = await answered([asked(4.9), asked(5.1)]);

    expect(now).to.deep.equal([true, false, true, true, true]);
    expect(later).to.deep.equal([false, true]);
  });

  it('five times a day', async () => {
    const day = await answered([0, 10, 20, 30, 40, 50, 60].map((minutes) => asked(minutes)));
    const next = await answered([asked(24 * 60 + 1), asked(24 * 60 + 7)]);

    expect(day).to.deep.equal([true, true, true, true, true, false, false]);
    expect(next).to.deep.equal([true, false]);
  });

  it('asked again after a crash, says the same', async () => {
    const requests = [asked(0), asked(1), asked(6)];
    const first = await answered(requests);

    expect(await answered(requests)).to.deep.equal(first);
    expect(first).to.deep.equal([true, false, true]);
  });
});
