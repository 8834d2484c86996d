/** Accounts with ids greater than `$gt`, and less than `$lt` or at most `$lte`. */
export interface AccountRange {
  readonly $gt: string;
  readonly $lt?: string;
  readonly $lte?: string;
}

/**
 * Round robin over accounts: ranges of ids without the accounts in `without`, in the order of reading. The ranges begin after the
 * account that was served last, go to the end, and then from the beginning up to that account.
 */
export function accountRotation(servedLast: string, without: Iterable<string>): AccountRange[] {
  const holes = [...without].sort();
  const ranges: AccountRange[] = [];
  let from = servedLast;
  for (const hole of holes.filter((id) => id > servedLast)) {
    ranges.push({ $gt: from, $lt: hole });
    from = hole;
  }
  ranges.push({ $gt: from });
  if (servedLast === '') return ranges;
  from = '';
  for (const hole of holes.filter((id) => id <= servedLast)) {
    ranges.push({ $gt: from, $lt: hole });
    from = hole;
  }
  if (from !== servedLast) ranges.push({ $gt: from, $lte: servedLast });
  return ranges;
}
