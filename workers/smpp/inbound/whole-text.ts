import type { InboundContent } from '../../../shared/messages/chat-message.ts';
import type { InboundId } from '../../../shared/runtime/ids.ts';
import type { Arrival } from './arrivals.ts';
import type { PartSet } from './part-sets.ts';
import { type DefaultAlphabet, decodeText } from './text-codings.ts';

/** A message of a handset, whole or with what came of it. */
export interface WholeText {
  /** Of what came first: the message's id derives from it. */
  readonly id: InboundId;
  /** All of it that came, one at least. */
  readonly arrivals: readonly Arrival[];
  /** When the last of it came, or when it was told without the rest. */
  readonly at: Date;
  readonly content: InboundContent;
}

/** Of a message in one deliver_sm. */
export function textOf(arrival: Arrival, alphabet: DefaultAlphabet): WholeText {
  const { _id: id, at } = arrival.document;
  return { id, arrivals: [arrival], at, content: contentOf([[arrival]], alphabet, {}) };
}

/**
 * Of the parts that came, in the order of their numbers. Octets are joined before they are decoded: a character may lie across two
 * parts. `missing_parts` tells what is not in the body.
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

/** What cannot be read as text is base64, with the data_coding that the carrier named. */
function contentOf(
  runs: readonly (readonly Arrival[])[],
  alphabet: DefaultAlphabet,
  more: Readonly<Record<string, unknown>>,
): InboundContent {
  const decoded = runs.map((run) => decodeRun(run, alphabet));
  if (decoded.every((text) => text !== undefined)) {
    const body = decoded.join('');
    return { type: 'text', body, ...(Object.keys(more).length === 0 ? {} : { more }) };
  }
  const octets = Buffer.concat(runs.flat().map(octetsOf));
  const codings = [...new Set(runs.flat().map(({ document }) => document.dataCoding))];
  const dataCoding = codings.length === 1 ? codings[0] : codings;
  return { type: 'binary', body: octets.toString('base64'), more: { data_coding: dataCoding, ...more } };
}

/** Parts of one coding are read together, others each for itself. */
function decodeRun(run: readonly Arrival[], alphabet: DefaultAlphabet): string | undefined {
  const [first] = run;
  if (first === undefined) return '';
  const { dataCoding } = first.document;
  if (run.every(({ document }) => document.dataCoding === dataCoding)) {
    return decodeText(Buffer.concat(run.map(octetsOf)), dataCoding, alphabet);
  }
  const texts = run.map((part) => decodeText(octetsOf(part), part.document.dataCoding, alphabet));
  return texts.every((text) => text !== undefined) ? texts.join('') : undefined;
}

function octetsOf({ document }: Arrival): Buffer {
  return Buffer.from(document.octets, 'base64');
}
