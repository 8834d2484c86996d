import { expect } from 'chai';
import { templateValues } from '../../../../gateway/dashboard/client/parts/template-values.ts';

describe('the values of a template', () => {
  const rows: readonly [string, string, readonly string[]][] = [
    ['none', '', []],
    ['one on each line', 'Asha\n1234', ['Asha', '1234']],
    ['an empty line is one, so that the next ones keep their places', 'Asha\n\n1234', ['Asha', '', '1234']],
    ['blanks belong to a value', ' Asha ', [' Asha ']],
  ];
  for (const [what, written, values] of rows) {
    it(what, () => expect(templateValues(written)).to.deep.equal(values));
  }
});
