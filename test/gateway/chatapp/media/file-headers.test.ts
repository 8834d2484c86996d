import { expect } from 'chai';
import { disposition, safeType } from '../../../../gateway/endpoints/chatapp/media/file-headers.ts';

const ANY = 'application/octet-stream';
const named = (name: string) => disposition('application/pdf', name, 'msg_1');

describe('the headers of a customer’s file', () => {
  it('types that a browser runs, and what is no type, are bytes', () => {
    const runs = ['text/html', 'TEXT/HTML; charset=utf-8', 'application/xhtml+xml', 'image/svg+xml', 'text/xml'];
    const odd = [
      'multipart/x-mixed-replace',
      'message/rfc822',
      'image',
      '',
      'image/',
      'a b/c',
      'image/png\r\nX: 1',
      'text/html,image/png',
    ];
    for (const said of [...runs, 'application/javascript', 'text/javascript', ...odd, undefined, 'x'.repeat(10_000)]) {
      expect(safeType(said), said).to.equal(ANY);
    }
  });

  it('other types stay, with their codecs and nothing else', () => {
    const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
    for (const [said, type] of [
      ['image/jpeg', 'image/jpeg'],
      ['IMAGE/PNG ; x=1', 'image/png'],
      [docx, docx],
      ['text/plain; charset=utf-8', 'text/plain'],
      ['audio/ogg; codecs=opus', 'audio/ogg; codecs="opus"'],
      ['audio/ogg; codecs="op\r\nus"', 'audio/ogg'],
    ] as const) {
      expect(safeType(said)).to.equal(type);
    }
  });

  it('only pictures, sound and films are shown; their name is ours', () => {
    expect(disposition('image/webp', undefined, 'msg_1')).to.equal('inline; filename="msg_1.webp"');
    expect(disposition('audio/ogg; codecs="opus"', undefined, 'msg_1')).to.equal('inline; filename="msg_1.ogg"');
    for (const type of ['application/pdf', ANY, 'text/plain', 'image/tiff', 'font/woff2']) {
      expect(disposition(type, undefined, 'msg_1')).to.equal('attachment; filename="msg_1"');
    }
  });

  it('a name leads to no folder, hides nothing, and fits into the header', () => {
    for (const [given, header] of [
      ['Bill 7.pdf', 'filename="Bill 7.pdf"'],
      ['../../etc/passwd', 'filename="_.._etc_passwd"'],
      ['..\\C:\\a.pdf', 'filename="_C__a.pdf"'],
      ['"; filename="x.exe', 'filename="_; filename=_x.exe"'],
      ['a\r\nSet-Cookie: b=1\u0000.pdf', 'filename="aSet-Cookie_ b=1.pdf"'],
      ['invoice\u202efdp.exe', 'filename="invoicefdp.exe"'],
      ['\u200b\ufeff..', 'filename="msg_1"'],
      ['100%20.pdf', `filename="100_20.pdf"; filename*=UTF-8''100%2520.pdf`],
      [
        'Rechnung März (1).pdf',
        `filename="Rechnung M_rz (1).pdf"; filename*=UTF-8''Rechnung%20M%C3%A4rz%20%281%29.pdf`,
      ],
      ['😀.pdf', `filename="__.pdf"; filename*=UTF-8''%F0%9F%98%80.pdf`],
      ['\ud800.pdf', 'filename="pdf"'],
    ] as const) {
      expect(named(given)).to.equal(`attachment; ${header}`);
    }
  });

  it('a long name keeps its end', () => {
    expect(named(`${'a'.repeat(5_000)}.pdf`)).to.match(/^attachment; filename="a{120}"$/);
    expect(named(`${'a'.repeat(500)}.pdf`)).to.match(/^attachment; filename="a{116}\.pdf"$/);
    expect(named('अ'.repeat(500)).length).to.be.below(1_500);
  });
});
