import type { Copy, Part } from '../messages/message.ts';

/** What an answer says of parts, joined with what receipts told of them before. Pure. */

/** What a receipt told already is kept: an answer never takes a part back. */
export function mergeParts(known: readonly Part[] | undefined, answered: readonly Part[]): readonly Part[] {
  return answered.map((part, i) => {
    const before = known?.[i];
    return before === undefined ? part : mergePart(before, part);
  });
}

function mergePart(before: Part, part: Part): Part {
  if (before.key !== undefined && part.key !== undefined && before.key !== part.key) return before;
  // It was refused for now, and sent again. With an id it was taken first, and failed: a status came before this answer.
  if (before.state === 'refused' && before.key === undefined && part.state === 'accepted') return part;
  const settled = before.state !== 'unknown' && before.state !== 'accepted';
  return { ...part, ...before, ...(settled ? {} : { state: part.state === 'unknown' ? before.state : part.state }) };
}

export interface OwnIds {
  readonly parts: readonly Part[];
  readonly others: readonly Copy[];
}

/**
 * An answer tells ids. A receipt may have come before with one of them, and was then taken, by its addresses, for one of another copy.
 * What it told belongs to the answered parts (`parts`); of the part that it was taken for nothing is known again (`others`).
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

/** Whether both say the same. Parts are stored in the order of their members. */
export function sameParts(one: readonly Part[], other: readonly Part[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
