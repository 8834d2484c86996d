import { expect } from 'chai';
import { decodeFile } from '../../../../shared/platform/sheets/encoding.ts';

const TEXT = 'Template ID,Header,Content\r\n1107160000000000001,HARKRA,"प्रिय {#var#}, ₹ 100 – bye"\r\n';
const swapped = (octets: Buffer): Buffer => Buffer.from(octets).swap16();
const utf16le = Buffer.from(TEXT, 'utf16le');

describe('sheets/encoding', () => {
  const files: readonly [string, Uint8Array][] = [
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${TEXT}`)],
    ['UTF-16, little end first, with its mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
    ['UTF-16, big end first, with its mark', swapped(Buffer.from(`\ufeff${TEXT}`, 'utf16le'))],
    ['UTF-16, little end first', utf16le],
    ['UTF-16, big end first', swapped(utf16le)],
  ];
  for (const [name, octets] of files) {
    it(`reads ${name}`, () => {
      expect(decodeFile(octets)).to.deep.equal({ kind: 'text', text: TEXT });
    });
  }

  it('does not guess that a file is windows-1252: it names the line, and what to do', () => {
    const octets = Buffer.from('id,header,content\n1,HARKRA,plain\n2,HARKRA,caf\xe9 \x96 bye\n', 'latin1');

    const refused = decodeFile(octets);

    expect(refused.kind).to.equal('unreadable');
    expect(refused)
      .to.have.property('detail')
      .that.matches(/^Line 3 is not UTF-8;.*encoding windows-1252/);
    expect(decodeFile(octets, 'windows-1252')).to.deep.include({
      text: 'id,header,content\n1,HARKRA,plain\n2,HARKRA,café – bye\n',
    });
  });

  const others: readonly [string, Uint8Array, RegExp][] = [
    ['a workbook', Buffer.from('PK\x03\x04rest'), /\.xlsx.*save it as "CSV UTF-8"/],
    ['an old workbook', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 1]), /\.xls\)/],
    ['a web page that is called .xls', Buffer.from('  <html><table>'), /web page/],
    ['UTF-16 that is cut off', utf16le.subarray(0, 101), /not the utf-16le/],
  ];
  for (const [name, octets, detail] of others) {
    it(`says that it is ${name}`, () => {
      expect(decodeFile(octets)).to.have.property('detail').that.matches(detail);
    });
  }
});
