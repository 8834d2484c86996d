import { asProblem } from '../../../gateway/dashboard/client/api/http.ts';
import {
  followed,
  loaded,
  loading,
  notLoaded,
  notShown,
  type PageList,
  type Pages,
  shown,
} from '../../../gateway/dashboard/client/api/page-list.ts';

const page = (cursor: string | null, ...rows: string[]): Pages<string> => ({ rows, cursor, count: 1 });
const rowsOf = ({ pages }: PageList<string>) => pages?.rows.join('');
const FIRST = page('b', 'a', 'b');
const SECOND = page(null, 'c');

describe("the dashboard's lists, page by page", () => {
  const one = shown<string>({ url: '/list' }, FIRST);
  const two = loaded(loading(one), FIRST, SECOND);

  it('news takes the place of a first page that is all there is, and of nothing further below', () => {
    const news = page('a', 'n', 'a');

    expect(rowsOf(followed(one, news))).to.equal('na');
    expect([rowsOf(followed(two, news)), followed(two, news).hasNews]).to.deep.equal(['abc', true]);
    expect(followed(two, page('b', 'a', 'b')).hasNews).to.equal(false);
    expect(followed(followed(two, news), FIRST).hasNews).to.equal(false);
  });

  it('news does not lose a page that is on its way', () => {
    const list = followed(loading(one), page('a', 'n', 'a'));

    expect(list.isLoadingMore).to.equal(true);
    expect(rowsOf(loaded(list, FIRST, SECOND))).to.equal('abc');
  });

  it('read anew for the user, it is as it was read; a page on its way is dropped with what it follows', () => {
    const list = shown(followed(loading(one), page('a', 'n', 'a')), page('a', 'n', 'a'));

    expect(list).to.include({ url: '/list' }).and.not.have.any.keys('hasNews', 'isLoadingMore');
    expect(loaded(list, FIRST, SECOND)).to.equal(list);
    expect(notLoaded(list, FIRST, asProblem('lost'))).to.equal(list);
  });

  it('says which of its reads failed, until one succeeds, and keeps what is shown', () => {
    const failed = notLoaded(loading(one), FIRST, asProblem('lost'));

    expect([failed.failed, failed.isLoadingMore, rowsOf(failed)]).to.deep.equal(['more', false, 'ab']);
    expect(loading(failed)).to.not.have.any.keys('failed', 'problem');
    expect([notShown(two, asProblem('lost')).failed, rowsOf(notShown(two, asProblem('lost')))]).to.deep.equal([
      'shown',
      'abc',
    ]);
    expect(followed(notShown(two, asProblem('lost')), FIRST)).to.not.have.any.keys('failed', 'problem');
  });
});
