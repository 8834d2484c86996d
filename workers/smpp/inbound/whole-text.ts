import type { InboundContent } from '../../../shared/messages/document/chat-message.ts';
import type { InboundId } from '../../../shared/platform/runtime/ids.ts';
import type { SeptetRun } from '../text/septets.ts';
import type { Arrival } from './arrivals.ts';
import type { PartSet } from './part-sets.ts';
import { type DefaultAlphabet, decodeText, isLittleEndianMarked, type Written } from './text-codings.ts';

/** A handset's message: complete, or with the parts that came. */
export interface WholeText {
  /** The id of the first deliver_sm. The message's id derives from it. */
  readonly id: InboundId;
  /** The deliver_sm that came, at least one. */
  readonly arrivals: readonly Arrival[];
  /** When the last part came, or when waiting for the other parts ended. */
  readonly at: Date;
  readonly content: InboundContent;
}

/** The text of a message in one deliver_sm. */
export function textOf(arrival: Arrival, alphabet: DefaultAlphabet): WholeText {
  const { _id: id, at } = arrival.document;
  return { id, arrivals: [arrival], at, content: contentOf([[arrival]], alphabet, {}) };
}

/**
 * The text of the parts that came, in the order of their numbers. `missing_parts` lists parts that the body lacks.
 */
export function joinedText({ id, parts, total }: PartSet, alphabet: DefaultAlphabet, at: Date): WholeText {
  const missing: number[] = [];
  const runs: Arrival[][] = [[]];
  for (let number = 1; number <= total; number++) {
    const part = parts.get(number);
    if (part !== undefined) runs.at(-1)?.push(part);
    else {
      missing.push(number);
      runs.push([]);
    }
  }
  const more = missing.length === 0 ? {} : { missing_parts: missing, total_parts: total };
  return { id, arrivals: [...parts.values()], at, content: contentOf(runs, alphabet, more) };
}

/** The content. Octets that are not a readable text are given as base64, with the carrier's data_coding. */
function contentOf(
  runs: readonly (readonly Arrival[])[],
  alphabet: DefaultAlphabet,
  more: Readonly<Record<string, unknown>>,
): InboundContent {
  const arrivals = runs.flat();
  const written = { isWhole: runs.length === 1, isLittleEndian: arrivals.map(runOf).some(isLittleEndianMarked) };
  const decoded = runs.map((run) => decodeRun(run, written, alphabet));
  if (decoded.every((text) => text !== undefined)) {
    const body = decoded.join('');
    return { type: 'text', body, ...(Object.keys(more).length === 0 ? {} : { more }) };
  }
  const octets = Buffer.concat(arrivals.map((part) => runOf(part).octets));
  const codings = [...new Set(arrivals.map(({ document }) => document.dataCoding))];
  const dataCoding = codings.length === 1 ? codings[0] : codings;
  return { type: 'binary', body: octets.toString('base64'), more: { data_coding: dataCoding, ...more } };
}

/** Decodes parts of the same coding together, and all others separately. */
function decodeRun(
  run: readonly Arrival[],
  written: Omit<Written, 'dataCoding'>,
  alphabet: DefaultAlphabet,
): string | undefined {
  const [first] = run;
  if (first === undefined) return '';
  const { dataCoding } = first.document;
  if (run.every(({ document }) => document.dataCoding === dataCoding)) {
    return decodeText(run.map(runOf), { ...written, dataCoding }, alphabet);
  }
  const texts = run.map((part) =>
    decodeText([runOf(part)], { ...written, isWhole: false, dataCoding: part.document.dataCoding }, alphabet),
  );
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}

function runOf({ document: { octets, shift } }: Arrival): SeptetRun {
  return { octets: Buffer.from(octets, 'base64'), shift };
}
