import { expect } from 'chai';
import { type AccountRange, accountRotation } from '../../../../workers/smpp/claim/rotation.ts';

describe('accountRotation', () => {
  const rows: readonly [string, readonly string[], readonly AccountRange[]][] = [
    ['', [], [{ $gt: '' }]],
    ['m', [], [{ $gt: 'm' }, { $gt: '', $lte: 'm' }]],
    ['', ['c', 'a'], [{ $gt: '', $lt: 'a' }, { $gt: 'a', $lt: 'c' }, { $gt: 'c' }]],
    ['m', ['x'], [{ $gt: 'm', $lt: 'x' }, { $gt: 'x' }, { $gt: '', $lte: 'm' }]],
    ['m', ['c'], [{ $gt: 'm' }, { $gt: '', $lt: 'c' }, { $gt: 'c', $lte: 'm' }]],
    ['m', ['m'], [{ $gt: 'm' }, { $gt: '', $lt: 'm' }]],
  ];
  for (const [servedLast, without, ranges] of rows) {
    it(`behind "${servedLast}", without [${without.join(' ')}]`, () => {
      expect(accountRotation(servedLast, without)).to.deep.equal(ranges);
    });
  }

  it('reaches every account but those, once', () => {
    const ids = [...'abcdefghij'];
    for (const servedLast of ['', ...ids]) {
      for (const without of [[], ['a'], ['j'], ['c', 'd'], ['a', 'e', 'j'], ids]) {
        const reached = accountRotation(servedLast, without).flatMap(({ $gt, $lt, $lte }) =>
          ids.filter((id) => id > $gt && ($lt === undefined || id < $lt) && ($lte === undefined || id <= $lte)),
        );
        expect(reached.sort(), `${servedLast} ${without}`).to.deep.equal(ids.filter((id) => !without.includes(id)));
      }
    }
  });
});
