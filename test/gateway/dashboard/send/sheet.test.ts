import { expect } from 'chai';
import { sheetOf, textOf } from '../../../../gateway/dashboard/client/pages/send/sheet.ts';

describe('the recipients of a file', () => {
  const text = 'phone,name\n919876543210,José\n';
  const files: readonly [string, Buffer, string | undefined][] = [
    ['UTF-8', Buffer.from(text), text],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${text}`), text],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), text],
    ['UTF-16, the other way round', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), text],
    ['windows-1252', Buffer.from(text, 'latin1'), undefined],
    ['nothing', Buffer.alloc(0), ''],
  ];
  for (const [what, octets, expected] of files) {
    it(what, () => expect(textOf(octets)).to.equal(expected));
  }

  it('may be many: the widest row counts', () => {
    const { rows, heads } = sheetOf(`${'919876543210\n'.repeat(200_000)}919876543211,Asha\n`);

    expect([rows.length, heads]).to.deep.equal([200_001, ['Column 1', 'Column 2']]);
  });
});
