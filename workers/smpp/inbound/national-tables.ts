import { BASIC, EXTENSION } from '../../../shared/messages/sms-plan.ts';

/**
 * The national language tables of 3GPP TS 23.038 Annex A, by their language identifiers (§6.2.1.2.4). A locking shift
 * table replaces the default alphabet, a single shift table its extension. Only handsets write with them.
 *
 * Written down from Annex A as Android (GsmAlphabet) and Firefox OS (ril_consts) read it, too; test/peers compares them
 * with the Python package gsmcodecs. Letters of scripts are written by their numbers, because editors put marks in
 * another order.
 */
interface Tables {
  readonly alphabet: Table;
  /** Undefined for an unknown language: then what follows an escape cannot be read. */
  readonly extension: Table | undefined;
}

type Table = ReadonlyMap<number, string>;

/** Which tables a text is written with: the national language identifiers of its header. */
export interface Shift {
  readonly locking?: number;
  readonly single?: number;
}

/** Characters of consecutive septets, by the first one. */
type Runs = Readonly<Record<number, string>>;

/** Undefined when no alphabet has this language identifier. */
export function tablesOf({ locking = 0, single = 0 }: Shift): Tables | undefined {
  const alphabet = ALPHABETS.get(locking);
  return alphabet === undefined ? undefined : { alphabet, extension: EXTENSIONS.get(single) };
}

function table(...all: readonly Runs[]): Table {
  return new Map(
    all.flatMap((runs) =>
      Object.entries(runs).flatMap(([first, run]) =>
        [...run].map((character, i): readonly [number, string] => [Number(first) + i, character]),
      ),
    ),
  );
}

const GSM_BASIC: Runs = { 0: BASIC };
const GSM_EXTENSION: Runs = Object.fromEntries(Object.entries(EXTENSION).map(([character, code]) => [code, character]));

/** Common to the alphabets of the languages 4 to 13 (§A.3.4 to §A.3.13). */
const INDIC: Runs = {
  ...{ 10: '\n', 13: '\r', 32: ' !', 40: ')(', 44: ',', 46: '.', 48: '0123456789:;', 63: '?' },
  ...{ 97: 'abcdefghijklmnopqrstuvwxyz' },
};
/** And to their extensions (§A.2.4 to §A.2.13). */
const INDIC_EXTENSION: Runs = {
  ...{ 0: '@£$¥¿"¤%&\'\f*+', 14: '-/<=>¡^¡_#*', 40: '{}', 47: '\\', 60: '[~]' },
  ...{ 64: '|ABCDEFGHIJKLMNOPQRSTUVWXYZ', 101: '€' },
};

/** Unicode has India's scripts in blocks of 128 with equal places, as the alphabets: first septet, place, length. */
const PLACES: readonly (readonly [septet: number, place: number, length: number])[] = [
  ...([
    [0x00, 0x01, 3],
    [0x03, 0x05, 7],
    [0x0b, 0x0c, 2],
    [0x0e, 0x0e, 13],
    [0x1c, 0x1b, 4],
    [0x22, 0x1f, 6],
  ] as const),
  ...([
    [0x2a, 0x25, 2],
    [0x2d, 0x27, 1],
    [0x2f, 0x28, 1],
    [0x3c, 0x29, 3],
    [0x40, 0x2c, 14],
    [0x4e, 0x3c, 18],
  ] as const),
];

/** `empty`: septets. `before`, `behind`: places in `block` of what stands on the septet before `a` and behind `z`. */
function indic(block: number, empty: readonly number[], before: number, behind: readonly number[]): Table {
  const letters = PLACES.flatMap(([septet, place, length]) =>
    Array.from({ length }, (_, i): readonly [number, number] => [septet + i, place + i]),
  );
  const own = letters.filter(([septet]) => !empty.includes(septet));
  const rest = [before, ...behind].map((place, i): readonly [number, number] => [i === 0 ? 0x60 : 0x7a + i, place]);
  return new Map([
    ...table(INDIC),
    ...[...own, ...rest].map(([septet, place]) => [septet, String.fromCharCode(block + place)] as const),
  ]);
}

/** An extension of India: its digits, then other characters, and the two dandas that most have before them. */
function indicExtension(block: number, others: Runs = {}, dandas = '\u0964\u0965'): Table {
  const digits = String.fromCharCode(...Array.from({ length: 10 }, (_, i) => block + 0x66 + i));
  return table(INDIC_EXTENSION, { 25: dandas, 28: digits }, others);
}

const ALPHABETS: ReadonlyMap<number, Table> = new Map([
  [0, table(GSM_BASIC)],
  // Turkish
  [1, table(GSM_BASIC, { 4: '€', 7: 'ı', 11: 'Ğğ', 28: 'Şş', 64: 'İ', 96: 'ç' })],
  // Spanish has an extension only.
  [2, table(GSM_BASIC)],
  // Portuguese
  [
    3,
    table(GSM_BASIC, {
      ...{ 4: 'ê', 6: 'úíóç', 11: 'Ôô', 14: 'Áá', 18: 'ªÇÀ∞^\\€Ó|', 28: 'ÂâÊ', 36: 'º', 64: 'Í' },
      ...{ 91: 'ÃÕÚ', 96: '~', 123: 'ãõ`' },
    }),
  ],
  // Bengali
  [
    4,
    indic(
      0x0980,
      [0x0c, 0x0e, 0x11, 0x12, 0x3c, 0x45, 0x47, 0x48, 0x49, 0x57, 0x58, 0x5b, 0x5c],
      0x4e,
      [0x57, 0x5c, 0x5d, 0x70, 0x71],
    ),
  ],
  // Gujarati
  [5, indic(0x0a80, [0x0e, 0x12, 0x3c, 0x45, 0x48, 0x58, 0x5c], 0x50, [0x60, 0x61, 0x62, 0x63, 0x71])],
  // Hindi
  [6, indic(0x0900, [], 0x50, [0x72, 0x7b, 0x7c, 0x7e, 0x7f])],
  // Kannada
  [7, indic(0x0c80, [0x00, 0x0c, 0x11, 0x3c, 0x48, 0x57, 0x5b], 0x55, [0x56, 0x60, 0x61, 0x62, 0x63])],
  // Malayalam
  [8, indic(0x0d00, [0x00, 0x0c, 0x11, 0x3c, 0x4e, 0x57, 0x5b], 0x57, [0x60, 0x61, 0x62, 0x63, 0x79])],
  // Oriya
  [
    9,
    indic(
      0x0b00,
      [0x0c, 0x0e, 0x11, 0x12, 0x3c, 0x45, 0x48, 0x57, 0x58, 0x5b, 0x5c],
      0x56,
      [0x57, 0x60, 0x61, 0x62, 0x63],
    ),
  ],
  // Punjabi
  [
    10,
    indic(
      0x0a00,
      [...[0x09, 0x0b, 0x0c, 0x0e, 0x11, 0x12, 0x3c, 0x45, 0x48, 0x4b, 0x4f, 0x55, 0x56, 0x57, 0x58, 0x5b, 0x5c]],
      0x51,
      [0x70, 0x71, 0x72, 0x73, 0x74],
    ),
  ],
  // Tamil
  [
    11,
    indic(
      0x0b80,
      [
        ...[0x00, 0x09, 0x0b, 0x0c, 0x11, 0x16, 0x17, 0x18, 0x1c, 0x1e, 0x23, 0x24, 0x25, 0x2a, 0x2b, 0x2d, 0x3e],
        ...[0x40, 0x41, 0x4e, 0x4f, 0x55, 0x56, 0x57, 0x5b],
      ],
      0x50,
      [0x57, 0x70, 0x71, 0x72, 0x79],
    ),
  ],
  // Telugu
  [12, indic(0x0c00, [0x0c, 0x11, 0x3c, 0x48, 0x4e, 0x57, 0x5b], 0x55, [0x56, 0x60, 0x61, 0x62, 0x63])],
  // Urdu
  [
    13,
    table(INDIC, {
      ...{ 0: '\u0627\u0622\u0628\u067b\u0680\u067e\u06a6\u062a\u06c2\u067f', 11: '\u0679\u067d' },
      ...{ 14: '\u067a\u067c\u062b\u062c\u0681\u0684\u0683\u0685\u0686\u0687\u062d\u062e\u062f' },
      ...{ 28: '\u068c\u0688\u0689\u068a', 34: '\u068f\u068d\u0630\u0631\u0691\u0693', 42: '\u0699\u0632' },
      ...{ 45: '\u0696', 47: '\u0698', 60: '\u069a\u0633\u0634' },
      ...{ 64: '\u0635\u0636\u0637\u0638\u0639\u0641\u0642\u06a9\u06aa\u06ab\u06af\u06b3\u06b1\u0644\u0645\u0646' },
      ...{ 80: '\u06ba\u06bb\u06bc\u0648\u06c4\u06d5\u06c1\u06be\u0621\u06cc\u06d0\u06d2\u064d\u0650\u064f\u0657' },
      ...{ 96: '\u0654', 123: '\u0655\u0651\u0653\u0656\u0670' },
    }),
  ],
]);

const EXTENSIONS: ReadonlyMap<number, Table> = new Map([
  [0, table(GSM_EXTENSION)],
  [1, table(GSM_EXTENSION, { 71: 'Ğ', 73: 'İ', 83: 'Ş', 99: 'ç', 103: 'ğ', 105: 'ı', 115: 'ş' })],
  [
    2,
    table(GSM_EXTENSION, {
      ...{ 9: 'ç', 65: 'Á', 73: 'Í', 79: 'Ó', 85: 'Ú', 97: 'á', 105: 'í', 111: 'ó', 117: 'ú' },
    }),
  ],
  [
    3,
    table(GSM_EXTENSION, {
      ...{ 5: 'ê', 9: 'ç', 11: 'Ôô', 14: 'Áá', 18: 'ΦΓ', 21: 'ΩΠΨΣΘ', 31: 'Ê', 65: 'À', 73: 'Í' },
      ...{ 79: 'Ó', 85: 'Ú', 91: 'ÃÕ', 97: 'Â', 105: 'í', 111: 'ó', 117: 'ú', 123: 'ãõ', 127: 'â' },
    }),
  ],
  // Bengali has its digits two septets earlier, across the escape.
  [
    4,
    table(INDIC_EXTENSION, {
      ...{ 25: '\u09e6\u09e7', 28: '\u09e8\u09e9\u09ea\u09eb\u09ec\u09ed\u09ee\u09ef\u09df\u09e0\u09e1\u09e2' },
      ...{ 42: '\u09e3\u09f2\u09f3\u09f4\u09f5', 48: '\u09f6\u09f7\u09f8\u09f9\u09fa' },
    }),
  ],
  [5, indicExtension(0x0a80)],
  [
    6,
    indicExtension(0x0900, {
      ...{ 38: '\u0951\u0952', 42: '\u0953\u0954\u0958\u0959\u095a' },
      ...{ 48: '\u095b\u095c\u095d\u095e\u095f\u0960\u0961\u0962\u0963\u0970\u0971' },
    }),
  ],
  [7, indicExtension(0x0c80, { 38: '\u0cde\u0cf1', 42: '\u0cf2' })],
  [
    8,
    indicExtension(0x0d00, {
      ...{ 38: '\u0d70\u0d71', 42: '\u0d72\u0d73\u0d74\u0d75\u0d7a', 48: '\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f' },
    }),
  ],
  [9, indicExtension(0x0b00, { 38: '\u0b5c\u0b5d', 42: '\u0b5f\u0b70\u0b71' })],
  [10, indicExtension(0x0a00, { 38: '\u0a59\u0a5a', 42: '\u0a5b\u0a5c\u0a5e\u0a75' })],
  [11, indicExtension(0x0b80, { 38: '\u0bf3\u0bf4', 42: '\u0bf5\u0bf6\u0bf7\u0bf8\u0bfa' })],
  [
    12,
    indicExtension(
      0x0c00,
      {
        ...{ 38: '\u0c58\u0c59', 42: '\u0c78\u0c79\u0c7a\u0c7b\u0c7c', 48: '\u0c7d\u0c7e\u0c7f' },
      },
      '',
    ),
  ],
  [
    13,
    table(INDIC_EXTENSION, {
      ...{ 25: '\u0600\u0601', 28: '\u06f0\u06f1\u06f2\u06f3\u06f4\u06f5\u06f6\u06f7\u06f8\u06f9\u060c\u060d' },
      ...{ 42: '\u060e\u060f\u0610\u0611\u0612', 63: '\u06d4' },
      ...{ 48: '\u0613\u0614\u061b\u061f\u0640\u0652\u0658\u066b\u066c\u0672\u0673\u06cd' },
    }),
  ],
]);
