import {
  foldText,
  LANGUAGES,
  languagesOf,
  optOutOf,
  WORD_LISTS,
  wordsFor,
} from '../../../../shared/carriers/opt-outs/words.ts';

const INDIAN = '919876543210';
const FRENCH = '33612345678';

describe('optOutOf', () => {
  const rows: readonly [text: string, customer: string, expected: string | undefined][] = [
    ['STOP', INDIAN, 'out stop'],
    [' stop.\n', INDIAN, 'out stop'],
    ['"S.T.O.P!"', INDIAN, 'out stop'],
    ['s\u200bto\u2060p\ufeff', INDIAN, 'out stop'],
    ['ＳＴＯＰ', INDIAN, 'out stop'],
    ['STOP \u26d4\ufe0f', INDIAN, 'out stop'],
    ['STOP\u2757\ufe0f\u{e0020}', INDIAN, 'out stop'],
    ['Stop  all', INDIAN, 'out stop all'],
    ['opt-out', INDIAN, 'out optout'],
    ['START', INDIAN, 'in start'],
    ['help?', INDIAN, 'help help'],
    ['ARRÊT', FRENCH, 'out arret'],
    ['ARRÊT', INDIAN, undefined],
    ['Остановить', '79161234567', 'out остановить'],
    ['detener', '5491123456789', 'out detener'],
    ['YES', INDIAN, undefined],
    ['stop please', INDIAN, 'near stop'],
    ['Please, STOP!!', INDIAN, 'near stop'],
    ['stop all of it', INDIAN, 'near stop'],
    ['a bus stops here', INDIAN, undefined],
    [`stop ${'and go '.repeat(10)}`, INDIAN, undefined],
    ['start now', INDIAN, undefined],
    ['', INDIAN, undefined],
    ['\u200b !', INDIAN, undefined],
    ['stop'.padEnd(201), INDIAN, undefined],
  ];
  for (const [text, customer, expected] of rows) {
    it(`${JSON.stringify(text.slice(0, 30))} of ${customer.slice(0, 2)}… is ${expected ?? 'nothing'}`, () => {
      const sign = optOutOf(text, wordsFor({}, customer));

      expect(sign && `${sign.kind} ${sign.word}`).to.equal(expected);
    });
  }

  it('knows the words that an account has set, besides those of its languages', () => {
    const words = wordsFor({ languages: ['it'], out: [foldText('Բավական'), foldText('बंद करो')] }, INDIAN);

    expect(optOutOf('बंद  करो।', words)?.kind).to.equal('out');
    expect(optOutOf('ferma', words)?.kind).to.equal('out');
    expect(optOutOf('stop', words)).to.equal(undefined);
  });

  it('takes the two letters i of Turkish for one, as their capitals differ from those of other languages', () => {
    const words = wordsFor({ out: [foldText('çıkış'), foldText('İPTAL'), foldText('cıkıs yap')] }, INDIAN);

    for (const text of ['ÇIKIŞ', 'çıkış', 'Cikis', 'iptal', 'IPTAL', 'İptal', 'ÇIKIŞ YAP']) {
      expect(optOutOf(text, words)?.kind, text).to.equal('out');
    }
  });

  it('finds every word of every list, as it stands there', () => {
    for (const language of LANGUAGES) {
      for (const kind of ['out', 'in', 'help'] as const) {
        for (const word of WORD_LISTS[language][kind]) {
          expect(optOutOf(word, WORD_LISTS[language]), word).to.deep.equal({ kind, word });
        }
      }
    }
  });

  it('takes English everywhere, and what is spoken where the customer is', () => {
    expect(languagesOf(INDIAN)).to.deep.equal(['en']);
    expect(languagesOf('32470123456')).to.deep.equal(['en', 'fr', 'nl', 'de']);
  });
});
