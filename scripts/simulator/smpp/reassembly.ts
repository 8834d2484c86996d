import type { Submit } from './submit.ts';

/** A message as a phone would show it, and the segments that it came in, in order. */
export interface WholeText {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly parts: readonly Submit[];
}

/** How many texts may wait for missing parts. When there are more, the oldest is forgotten, as on a phone. */
const MAX_OPEN = 1_000;

/**
 * Joins segments into whole texts by sender, destination and reference (3GPP TS 23.040 §9.2.3.24.1). They may come in any order.
 * Each segment is decoded on its own, so a character that is cut between two segments shows as `U+FFFD`.
 */
export class Reassembly {
  readonly #open = new Map<string, (Submit | undefined)[]>();

  /** Returns the whole text if `submit` was its last missing part, or all of it. */
  add(submit: Submit): WholeText | undefined {
    const concatenation = submit.concatenation;
    if (concatenation === undefined || concatenation.total === 1) return join([submit]);

    const { kind, reference, total, part } = concatenation;
    const key = `${submit.from}\n${submit.to}\n${kind}\n${reference}\n${total}`;
    const parts = this.#open.get(key) ?? new Array<Submit | undefined>(total).fill(undefined);
    parts[part - 1] = submit;
    const present = parts.filter((each) => each !== undefined);
    if (present.length === total) {
      this.#open.delete(key);
      return join(present);
    }

    this.#open.set(key, parts);
    if (this.#open.size > MAX_OPEN) {
      for (const oldest of this.#open.keys()) {
        this.#open.delete(oldest);
        break;
      }
    }
    return undefined;
  }
}

/** The whole texts that these submits make, in the order in which they became complete. */
export function wholeTexts(submits: readonly Submit[]): WholeText[] {
  const reassembly = new Reassembly();
  return submits.map((submit) => reassembly.add(submit)).filter((text) => text !== undefined);
}

function join(parts: readonly Submit[]): WholeText {
  const text = parts.map((part) => part.text).join('');
  return { from: parts[0]?.from ?? '', to: parts[0]?.to ?? '', text, parts };
}
