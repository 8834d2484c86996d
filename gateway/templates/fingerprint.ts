import type { Pattern } from '../../shared/templates/pattern.ts';

/**
 * Finds the templates that resemble a text without reading them. For each template it keeps 16-bit hashes of a few
 * short pieces of the fixed text, so one template costs 16 look-ups.
 */
export interface Fingerprints {
  /** `PIECES` hashes for each template, in the order of the index. 0 where a template has fewer. */
  readonly pieces: Uint16Array;
}

const PIECE_LENGTH = 3;
/**
 * How many pieces of a template are kept. Half of them are the rarest in the index, because they distinguish a template from the
 * others. The other half is spread evenly over the fixed text.
 */
const PIECES = 16;
/** How many pieces of a template are considered when the rarest are chosen. */
const LOOKED_AT = 64;

/** Hashes (1 to 65535) of pieces spread evenly over the fixed text, the first and the last piece included. */
export function piecesOf(pattern: Pattern): Uint16Array {
  const literals = pattern.parts.flatMap((part) => (part.kind === 'literal' ? [part.text] : []));
  const starts = literals.map((text) => Math.max(0, text.length - PIECE_LENGTH + 1));
  const total = starts.reduce((sum, count) => sum + count, 0);
  const pieces = new Uint16Array(Math.min(total, LOOKED_AT));
  let literal = 0;
  let before = 0;
  for (let i = 0; i < pieces.length; i++) {
    const nth = pieces.length === 1 ? 0 : Math.floor((i * (total - 1)) / (pieces.length - 1));
    while (nth - before >= (starts[literal] ?? 0)) before += starts[literal++] ?? 0;
    pieces[i] = hashAt(literals[literal] ?? '', nth - before);
  }
  return pieces;
}

/** Takes the result of `piecesOf` for each template of an index. */
export function fingerprint(piecesOfEach: readonly Uint16Array[]): Fingerprints {
  const seen = new Uint32Array(1 << 16);
  for (const pieces of piecesOfEach) for (const piece of pieces) seen[piece] = (seen[piece] ?? 0) + 1;
  const chosen = new Uint16Array(piecesOfEach.length * PIECES);
  for (const [t, pieces] of piecesOfEach.entries()) {
    const rarest = rarestOf(pieces, seen, PIECES / 2);
    chosen.set(rarest, t * PIECES);
    const spread = Math.min(pieces.length, PIECES) - rarest.length;
    for (let i = 0; i < spread; i++) {
      chosen[t * PIECES + rarest.length + i] =
        pieces[Math.floor((i * (pieces.length - 1)) / Math.max(1, spread - 1))] ?? 0;
    }
  }
  return { pieces: chosen };
}

/** Inserts each piece in order. Sorting all pieces of 5,000 templates would hold the event loop four times as long. */
function rarestOf(pieces: Uint16Array, seen: Uint32Array, count: number): number[] {
  const rarest: number[] = [];
  for (const piece of pieces) {
    const times = seen[piece] ?? 0;
    let place = rarest.length;
    while (place > 0 && times < (seen[rarest[place - 1] ?? 0] ?? 0)) place--;
    if (place >= count) continue;
    rarest.splice(place, 0, piece);
    if (rarest.length > count) rarest.pop();
  }
  return rarest;
}

/** At most `count` templates, the most alike first: those with the largest part of their pieces in the text. */
export function mostAlike({ pieces }: Fingerprints, text: string, count: number): number[] {
  const inText = new Uint8Array(1 << 16);
  for (let i = 0; i + PIECE_LENGTH <= text.length; i++) inText[hashAt(text, i)] = 1;
  const best: { readonly template: number; readonly similarity: number }[] = [];
  for (let t = 0; t * PIECES < pieces.length; t++) {
    const similarity = similarityOf(pieces, t * PIECES, inText);
    const worst = best.at(-1);
    if (best.length === count && worst !== undefined && similarity <= worst.similarity) continue;
    const place = best.findIndex((one) => similarity > one.similarity);
    best.splice(place === -1 ? best.length : place, 0, { template: t, similarity });
    if (best.length > count) best.pop();
  }
  return best.map((one) => one.template);
}

function similarityOf(pieces: Uint16Array, first: number, inText: Uint8Array): number {
  let has = 0;
  let of = 0;
  for (let i = first; i < first + PIECES; i++) {
    const piece = pieces[i] ?? 0;
    if (piece === 0) continue;
    of++;
    has += inText[piece] ?? 0;
  }
  return of === 0 ? 0 : has / of;
}

function hashAt(text: string, at: number): number {
  let hash = 7;
  for (let i = at; i < at + PIECE_LENGTH; i++) hash = Math.imul(hash, 0x9e3779b1) + text.charCodeAt(i);
  return (hash ^ (hash >>> 15)) & 0xffff || 1;
}
