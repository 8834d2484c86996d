/** Invisible: directional marks, joiners, BOMs, soft hyphens, control characters, fillers, variation selectors. */
const UNSEEN = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const SEEN = /[^\s\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Protection of a number that must stay a text in spreadsheets and portals: `="1107…"`, `'1107…`. */
const PROTECTED = /^(?:=?["“”]([^"“”]*)["“”]|['‘’](.*?)['‘’]?)$/;
const FORMULA = /^=(?=[+\d])/;

export function isBlank(cell: string): boolean {
  return !SEEN.test(cell);
}

export interface Word {
  readonly text: string;
  /** The cell was written as a text, so no spreadsheet has rounded it. */
  readonly isProtected: boolean;
}

/** Without protection, outer spaces and invisible characters; digits of any script as 0 to 9. */
export function wordOf(cell: string): Word {
  const seen = asciiDigits(cell.replaceAll(UNSEEN, '')).trim();
  const [, formula, quoted] = PROTECTED.exec(seen) ?? [];
  const inner = formula ?? quoted;
  return { text: (inner ?? seen.replace(FORMULA, '')).trim(), isProtected: inner !== undefined };
}

/** Characters between the digits of a number, full width too. */
const BETWEEN = /[\s()（）+＋.．\-‐‑‒–—―−－﹣⁃]/g;
/** `28-11-2026`, `2026.11.28` */
const DAY = /^\d\d?([-.])\d\d?\1(?:19|20)\d\d$|^(?:19|20)\d\d([-.])\d\d?\2\d\d?$/;
/** `+44 (0)20 …`, a decimal number, `9.19877E+11`: the digits alone would be somebody else's number. */
const NOT_BY_DIGITS = /\(0\)|^\+?\d{8,}[.,]\d+$|^\d[\d.,]*e\+?\d+$/i;

/** The digits of a number as people write it: `+91 98765-43210`. Anything unclear stays, and is refused. */
export function phoneDigits(written: string): string {
  const number = wordOf(written).text.replace(/^(\d{8,})[.,]0$/, '$1'); // as programs export a column of numbers
  if (NOT_BY_DIGITS.test(number) || DAY.test(number)) return number;
  return number.replaceAll(BETWEEN, '');
}

/** Also one that will be refused in words. */
export function looksLikePhone(written: string): boolean {
  const { text } = wordOf(written);
  return /^\d{8,15}$/.test(text.replaceAll(BETWEEN, '')) && !DAY.test(text);
}

/** Indian and Arabic keyboards write their own digits, East Asian ones full width. Digits of other planes stay. */
function asciiDigits(text: string): string {
  return text.replaceAll(/[^\P{Nd}\d]/gu, (digit) => {
    const code = digit.charCodeAt(0);
    if (digit.length > 1) return digit;
    // Ten digits in a row, whose zero has a code that ends in 0 or 6 (UnicodeData.txt).
    const row = code - (code % 16);
    const zero = /\p{Nd}/u.test(String.fromCharCode(row)) ? row : row + 6;
    return String(code - zero);
  });
}

/** The first character outside printable ASCII, as `\u202a`, with its place from 1: people cannot see it. */
export function oddCharacter(text: string): { readonly name: string; readonly place: number } | undefined {
  const found = /[^\x20-\x7e]/u.exec(text);
  if (found === null) return undefined;
  const code = found[0].codePointAt(0) ?? 0;
  const hex = code.toString(16).padStart(4, '0');
  return { name: code > 0xffff ? `\\u{${hex}}` : `\\u${hex}`, place: found.index + 1 };
}

/** Digits that survive in a cell of a spreadsheet, or of a program with doubles. The others become zeros. */
const SPREADSHEET = 15;
const DOUBLE = 17;

/**
 * The ids of a column that were probably rounded by a program. An id of 19 digits ends in four zeros by chance once in
 * 10,000; more than ten times as many are no chance. Fewer zeros are suspect when most of the column ends so. Cells
 * written as texts are not suspect.
 */
export function roundedIds(column: readonly Word[]): ReadonlySet<string> {
  const ids = [...new Set(column.filter(({ isProtected }) => !isProtected).map(({ text }) => text))].filter(isLong);
  const bySpreadsheet = ids.filter((id) => isRoundedTo(SPREADSHEET, id));
  const byDouble = ids.filter((id) => isRoundedTo(DOUBLE, id));
  if (byDouble.length > 1 && byDouble.length * 2 > ids.length) return new Set(byDouble);
  const byChance = ids.reduce((sum, { length }) => sum + 10 ** (SPREADSHEET - length), 0);
  return new Set(bySpreadsheet.length > Math.min(10 * byChance, ids.length / 2) ? bySpreadsheet : []);
}

function isLong(id: string): boolean {
  return /^\d{16,}$/.test(id);
}

function isRoundedTo(digits: number, id: string): boolean {
  return id.length > digits && /^0*$/.test(id.slice(digits));
}

/** `1.10717E+18`: how a spreadsheet shows a number that is too long for it. */
export function isExponential(text: string): boolean {
  return /^\d(?:[.,]\d+)?E\+?\d+$/i.test(text);
}
