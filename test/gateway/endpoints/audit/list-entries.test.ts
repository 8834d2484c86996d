import { type AuditQuery, listEntries } from '../../../../gateway/endpoints/audit/list-entries.ts';
import { beginEntry } from '../../../../shared/people/audit.ts';
import { type AccountId, type AuditId, minuteAuditId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

const ACCOUNT: AccountId = 'acc_01kam000000000000000000000';
const START = Date.parse('2026-11-21T10:00:00Z');

describe('the list of the audit', () => {
  let store: TestStore;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(() => store.close());

  /** Changes a key once at each of these seconds after the start. Returns the ids, newest first. */
  async function changes(seconds: readonly number[]): Promise<AuditId[]> {
    const made = seconds.map((second) => {
      const at = new Date(START + second * 1_000);
      return { at, id: minuteAuditId(`change ${second}`, at) };
    });
    for (const { at: now, id } of made) await begin(id, now);
    return made.sort((a, b) => b.at.getTime() - a.at.getTime()).map(({ id }) => id);
  }

  async function begin(id: AuditId, now: Date): Promise<void> {
    const what = { actor: { kind: 'key', id: 'k' }, action: 'key.update', subject: { kind: 'key', id: 'k' } } as const;
    await beginEntry(store.db, id, { ...what, account: ACCOUNT }, { now, keptDays: 36_500 });
  }

  async function pages(query: AuditQuery, limit: number): Promise<AuditId[]> {
    const found: AuditId[] = [];
    for (let after: AuditId | undefined; ; after = found.at(-1)) {
      const page = await listEntries(store.db, { ...query, ...(after && { after }) }, limit);
      found.push(...page.map(({ _id }) => _id));
      if (page.length < limit) return found;
    }
  }

  for (const limit of [1, 3, 7, 100]) {
    it(`has the newest first, also within a minute, in pages of ${limit}`, async () => {
      const made = await changes([3, 50, 20, 41, 7, 59, 60, 61, 100, 119, 240, 250, 245]);

      expect(await pages({}, limit)).to.deep.equal(made);
      expect(await pages({ account: ACCOUNT }, limit)).to.deep.equal(made);
    });
  }

  it('has changes with a time of their own among those of a minute', async () => {
    const made = await changes([10, 30, 50]);
    const own = newId('aud', START + 40_000);
    await begin(own, new Date(START + 40_000));

    expect(await pages({}, 2)).to.deep.equal([made[0], own, made[1], made[2]]);
  });

  it('keeps to its bounds, in the middle of a minute too', async () => {
    const made = await changes([3, 20, 41, 59, 61, 100]);
    const [since, until] = [new Date(START + 20_000), new Date(START + 61_000)];

    expect(await pages({ since, until }, 2)).to.deep.equal(made.slice(2, 5));
  });

  it('goes on where an entry was that is gone meanwhile, without losing any', async () => {
    const made = await changes([3, 20, 41, 59]);
    const [first] = made;
    await store.db.collection<{ _id: AuditId }>('audit').deleteOne({ _id: first as AuditId });

    const rest = await listEntries(store.db, { after: first as AuditId }, 10);

    expect(rest.map(({ _id }) => _id)).to.deep.equal(made.slice(1));
  });
});
