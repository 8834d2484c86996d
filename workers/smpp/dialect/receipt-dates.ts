/**
 * Dates in receipts: `YYMMDDhhmm`, `YYMMDDhhmmss`, `yyyyMMddHHmmss`, and SMPP's own absolute form of 16 characters with its
 * offset (`YYMMDDhhmmsstnnp`, SMPP 3.4 §7.1.1.1). All but the last are in the carrier's time zone.
 */
export function receiptDate(text: string, offsetMinutes: number): Date | undefined {
  const match = /^(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?(?:\d(\d{2})([+-]))?$/.exec(shortYear(text));
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? 0));
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return undefined;
  const quarters = Number(match[7] ?? 0);
  const offset = match[8] === undefined ? offsetMinutes : quarters * 15 * (match[8] === '+' ? 1 : -1);
  return new Date(Date.UTC(2000 + year, month - 1, day, hour, minute, second) - offset * 60_000);
}

/** Fourteen digits have the year in four. */
function shortYear(text: string): string {
  return /^20\d{12}$/.test(text) ? text.slice(2) : text;
}
