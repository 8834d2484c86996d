import type { Copy, Part } from '../document/message.ts';

/** Joins what an answer says about parts with what receipts said before. Pure. */

/**
 * News from an earlier receipt is kept: an answer never reverts a part. A receipt that came before its answer may have given its
 * id to the wrong segment; the answer then puts id and news in their place.
 */
export function mergeParts(known: readonly Part[] = [], answered: readonly Part[]): readonly Part[] {
  const isElsewhere = ({ key }: Part): boolean =>
    key !== undefined && answered.some((part, i) => part.key === key && known[i]?.key !== key);
  return answered.map((part, i) => {
    const here = known[i];
    const own = part.key === undefined || part.key === here?.key ? here : known.find(({ key }) => key === part.key);
    const before = own ?? here;
    if (before === undefined || (before.key !== part.key && isElsewhere(before))) return part;
    return mergePart(before, part);
  });
}

function mergePart(before: Part, part: Part): Part {
  if (before.key !== undefined && part.key !== undefined && before.key !== part.key) return before;
  // The part was refused for now and sent again. But a refused part with an id was taken first and failed later: a status came before
  // this answer.
  if (before.state === 'refused' && before.key === undefined && part.state === 'accepted') return part;
  const settled = before.state !== 'unknown' && before.state !== 'accepted';
  return { ...part, ...before, ...(settled ? {} : { state: part.state === 'unknown' ? before.state : part.state }) };
}

export interface OwnIds {
  readonly parts: readonly Part[];
  readonly others: readonly Copy[];
}

/**
 * An answer reveals ids. An earlier receipt with one of them may have been matched by its addresses to a part of another copy.
 * Its news then moves to the answered parts (`parts`), and the wrongly matched part has no news again (`others`).
 */
export function ownIds(parts: readonly Part[], copies: readonly Copy[] = []): OwnIds {
  const keys = new Set(parts.map(({ key }) => key));
  const guessed = copies.flatMap((copy) => copy.parts).filter(({ key }) => key !== undefined && keys.has(key));
  if (guessed.length === 0) return { parts, others: copies };
  const unknown: Part = { state: 'unknown' };
  return {
    parts: parts.map((part) => guessed.find(({ key }) => key === part.key) ?? part),
    others: copies.map((copy) => ({
      ...copy,
      parts: copy.parts.map((part) => (guessed.includes(part) ? unknown : part)),
    })),
  };
}

/** Whether both say the same. The members of stored parts have a fixed order. */
export function sameParts(one: readonly Part[], other: readonly Part[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
