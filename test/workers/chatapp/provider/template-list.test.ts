import { readTemplatePage } from '../../../../workers/chatapp/template-pages.ts';

describe('readTemplatePage', () => {
  const paging = { cursors: { before: 'a', after: 'b' } };

  it('goes on behind the cursor while there is a next page', () => {
    const data = [{}];

    expect(readTemplatePage({ data, paging: { ...paging, next: 'https://x' } })).to.deep.equal({
      entries: data,
      after: 'b',
    });
    expect(readTemplatePage({ data, paging })).to.deep.equal({ entries: data, after: undefined });
    expect(readTemplatePage({ data, paging: { next: 'https://x' } })).to.deep.equal({
      entries: data,
      after: undefined,
    });
  });

  it('says what is wrong with what is no page', () => {
    const after = 'c'.repeat(2_049);

    expect(readTemplatePage({ data: {} })).to.equal('the answer is no list of templates');
    expect(readTemplatePage(undefined)).to.equal('the answer is no list of templates');
    expect(readTemplatePage({ data: [], paging: { cursors: { after }, next: 'https://x' } })).to.equal(
      'the cursor has more than 2048 characters',
    );
  });
});
