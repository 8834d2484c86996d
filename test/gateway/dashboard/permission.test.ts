import { whoMay } from '../../../gateway/dashboard/client/api/permission.ts';

describe('a page that the user may not see', () => {
  it('sends a user of an account to an owner, who gives roles', () => {
    expect(whoMay('manage', true)).to.equal(
      'This page is for developers and owners only. Ask an owner of your account for that role.',
    );
  });

  it('sends nobody to an owner for what no owner can give', () => {
    expect(whoMay('admin:read', true)).to.equal('This page is for operators only.');
  });

  it('does not speak of an account to an operator, who has none', () => {
    expect(whoMay('read', false)).to.equal('This page is for users of an account only.');
  });
});
