import type { Submit } from './submit.ts';

/** A message as its reader would see it, with the segments it was made of, in order. */
export interface WholeText {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly parts: readonly Submit[];
}

/** Texts that may wait for their missing parts; beyond it the oldest is given up, as a phone does. */
const MAX_OPEN = 1_000;

/**
 * Joins segments into whole texts by sender, destination and reference (3GPP TS 23.040 §9.2.3.24.1), in whatever order
 * they come. Each segment is decoded by itself, so a character torn over two of them shows as `U+FFFD`.
 */
export class Reassembly {
  readonly #open = new Map<string, (Submit | undefined)[]>();

  /** The whole text if `submit` was all of it or its last missing part. */
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

/** All whole texts among `submits`, in the order in which they were completed. */
export function wholeTexts(submits: readonly Submit[]): WholeText[] {
  const reassembly = new Reassembly();
  return submits.map((submit) => reassembly.add(submit)).filter((text) => text !== undefined);
}

function join(parts: readonly Submit[]): WholeText {
  const text = parts.map((part) => part.text).join('');
  return { from: parts[0]?.from ?? '', to: parts[0]?.to ?? '', text, parts };
}
