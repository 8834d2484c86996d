import { expect } from 'chai';
import { defined } from '../../../../shared/platform/runtime/defined.ts';

describe('defined', () => {
  it('leaves out what is undefined, and nothing else', () => {
    const given: { readonly a?: string | undefined; readonly b: number; readonly c: null } = {
      a: undefined,
      b: 0,
      c: null,
    };

    expect(defined(given)).to.have.all.keys('b', 'c').and.to.deep.equal({ b: 0, c: null });
    expect(defined({ ...given, a: '' })).to.deep.equal({ a: '', b: 0, c: null });
  });
});
