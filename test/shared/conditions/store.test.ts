import { findAll, type Severity } from '../../../shared/conditions/condition.ts';
import {
  conditionsOf,
  PRESENT,
  readCarrierConditions,
  readOperatorConditions,
  storeConditions,
} from '../../../shared/conditions/store.ts';
import { lookedAt } from '../../support/looked-at.ts';
import { useStore } from '../../support/store.ts';

describe('the store of conditions', () => {
  const store = useStore();
  const now = new Date('2026-11-22T14:00:00Z');
  const condition = (name: string, severity: Severity, minutes: number) => {
    const since = new Date(now.getTime() - minutes * 60_000);
    const find = () => [{ subject: { kind: 'carrier', id: `${minutes}` } as const, words: name, since }];
    const concerns = { operator: { severity, todo: 'Look.' } };
    return findAll({ [name]: { title: name, how: name, concerns, find } }, undefined, now);
  };
  before(async () => {
    const ended = condition('carrier.down', 'urgent', 900);
    const present = [
      ...Array.from({ length: 300 }, (_, i) => condition('account.paused', 'look', i)),
      ...[1, 3, 2].map((minutes) => condition('carrier.refusing', 'urgent', minutes)),
    ].flat();
    await storeConditions(store.db, 'installation', [...ended, ...present], now);
    await storeConditions(store.db, 'installation', present, now);
  });

  it('gives operators the most urgent first, then the oldest, and reads no more than it gives', async () => {
    const found = (await readOperatorConditions(store.db, 5)).map(({ _id }) => _id);

    expect(found).to.deep.equal([
      ...['carrier.refusing:3', 'carrier.refusing:2', 'carrier.refusing:1'],
      ...['account.paused:299', 'account.paused:298'],
    ]);
    const page = conditionsOf(store.db)
      .find({ ...PRESENT, 'concerns.operator.severity': { $exists: true } })
      .sort({ 'concerns.operator.severity': -1, since: 1 })
      .limit(5);
    expect((await lookedAt(store.db, page)).documents).to.be.at.most(10);
  });

  it('gives the conditions of carriers that hold', async () => {
    expect((await readCarrierConditions(store.db)).map(({ name }) => name)).to.deep.equal(
      Array.from({ length: 3 }, () => 'carrier.refusing'),
    );
  });
});
