import type { PatternPart } from '../../../../shared/templates/sms/pattern.ts';
import { type Positions, slotEnds, stepForward } from './reach.ts';
import { type IndexedTemplate, preferred, type TemplateIndex, type TemplateNode } from './template-index.ts';

/**
 * Finds the template that the text is an instance of. Spaces, line breaks and capitals must agree exactly, because
 * carriers compare the text as it arrives. When several templates match, `preferred` chooses.
 *
 * Nothing backtracks. Each part turns the set of positions that can be reached into the next set. A set is needed because the text
 * of a literal can also occur inside a value, so a greedy choice can be wrong.
 */
export function matchTemplate(index: TemplateIndex, text: string): IndexedTemplate | undefined {
  const start = new Uint8Array(text.length + 1);
  start[0] = 1;
  return new Walk(text).from(index.root, start, undefined);
}

class Walk {
  readonly #text: string;
  /** Where addresses and numbers of the text end: one is read to its end from each of its positions, but once for all templates. */
  readonly #ends = new Map<string, number[]>();

  constructor(text: string) {
    this.#text = text;
  }

  /** The preferred template of `best` and all those below `node` that end where the text ends. */
  from(node: TemplateNode, reached: Positions, best: IndexedTemplate | undefined): IndexedTemplate | undefined {
    const first = reached.indexOf(1);
    if (first === -1) return best;
    let found = best;
    if (node.template !== undefined && reached[this.#text.length] === 1) found = preferred(found, node.template);
    const last = reached.lastIndexOf(1);
    for (const { part, node: next } of node.branches.values()) {
      if (!mayFollow(part, this.#text, first, last)) continue;
      found = this.from(next, stepForward(part, reached, this.#text, this.#endsOf), found);
    }
    return found;
  }

  readonly #endsOf: typeof slotEnds = (slot, text, start) => {
    const key = `${slot.type} ${slot.max} ${start}`;
    const known = this.#ends.get(key);
    if (known !== undefined) return known;
    const ends = slotEnds(slot, text, start);
    this.#ends.set(key, ends);
    return ends;
  };
}

/** False if the text does not have the literal between `first` and `last`. So nearly all of thousands of branches are passed over. */
function mayFollow(part: PatternPart, text: string, first: number, last: number): boolean {
  if (part.kind === 'slot') return true;
  if (first === last) return text.startsWith(part.text, first);
  const at = text.indexOf(part.text, first);
  return at !== -1 && at <= last;
}
