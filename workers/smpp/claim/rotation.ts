/** Accounts whose ids are behind `$gt` and before `$lt`, or up to `$lte`. */
export interface AccountRange {
  readonly $gt: string;
  readonly $lt?: string;
  readonly $lte?: string;
}

/**
 * Round robin over accounts: all but `without`, as ranges of ids in the order of reading. First those behind the account that
 * was served last, then from the beginning up to it.
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
