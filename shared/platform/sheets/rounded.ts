import type { Word } from './cell.ts';

/**
 * Digits that survive in a number cell: 15 in a spreadsheet, 17 in a program that reads numbers as doubles. All behind them become
 * zeros.
 */
const SPREADSHEET = 15;
const DOUBLE = 17;

/**
 * The ids of a column that were probably rounded by a program. An id of 19 digits ends in four zeros by chance once in 10,000;
 * so more than ten times as many are no chance. Ids that end in fewer zeros are suspect when most of the column does. What was
 * written as a text is what it was.
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

/** `1.10717E+18`: a spreadsheet shows so a number that is too long for it. */
export function isExponential(text: string): boolean {
  return /^\d(?:[.,]\d+)?E\+?\d+$/i.test(text);
}
