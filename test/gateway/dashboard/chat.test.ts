import { shortly } from '../../../gateway/dashboard/client/parts/chat.ts';

describe('the dashboard, the row of a customer', () => {
  const rows: readonly (readonly [body: string, shown: string])[] = [
    ['x'.repeat(80), 'x'.repeat(80)],
    ['x'.repeat(81), `${'x'.repeat(80)}…`],
    [`${'x'.repeat(78)}🎉 and more`, `${'x'.repeat(78)}🎉…`],
    [`${'x'.repeat(79)}🎉 and more`, `${'x'.repeat(79)}…`],
  ];
  for (const [body, shown] of rows) {
    it(`shows ${shown.length} of ${body.length} code units`, () => {
      expect(shortly({ type: 'text', body })).to.equal(shown);
    });
  }

  it('shows the type of what has no text', () => {
    expect(shortly({ type: 'image' })).to.equal('image');
    expect(shortly({ type: 'image', body: '' })).to.equal('image');
    expect(shortly({})).to.equal('no text');
  });
});
