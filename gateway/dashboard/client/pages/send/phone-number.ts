/** What people put between the digits of a number. */
const BETWEEN = /[\s()+.-]/g;

/** `+44 (0)20 …`, a decimal number, `9.19877E+11`: the digits alone would be somebody else's number. */
const NOT_BY_DIGITS = /\(0\)|^\+?\d{8,}\.\d+$|^\d[\d.]*e\+?\d+$/i;

/** The digits of a number as people write it: `+91 98765-43210`. What they do not tell stays: the gateway refuses it in words. */
export function digitsOf(written: string): string {
  const number = written.trim().replace(/^(\d{8,})\.0$/, '$1'); // as programs export a column of numbers
  return NOT_BY_DIGITS.test(number) ? number : number.replaceAll(BETWEEN, '');
}

export function looksLikeNumber(written: string): boolean {
  return /^\d{8,15}$/.test(written.replaceAll(BETWEEN, ''));
}
