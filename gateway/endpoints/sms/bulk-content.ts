import type { BatchContent, BatchEntry } from '../../../shared/messages/batch.ts';
import type { Encoding } from '../../../shared/messages/sms-plan.ts';
import { inSlices } from '../../../shared/platform/runtime/turns.ts';
import { renderTemplate } from '../../../shared/templates/sms/render.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { type PlannedText, renderText } from '../../http/fields/message-fields.ts';
import type { IndexedTemplate } from './matching/template-index.ts';

/** The texts of a batch, and the encoding and segments of the longest one. */
export interface BulkContent {
  readonly content: BatchContent;
  readonly encoding: Encoding;
  readonly segments: number;
  /** Of the text of one entry. */
  segmentsOf(entry: BatchEntry): number;
  /** The text of one entry, rendered anew. */
  textOf(entry: BatchEntry): string;
}

export function plainContent({ text, plan: { encoding, segments } }: PlannedText): BulkContent {
  return {
    content: { kind: 'text', text, encoding, segments },
    encoding,
    segments,
    segmentsOf: () => segments,
    textOf: () => text,
  };
}

/** The parts of a request that determine the texts. */
interface Given {
  /** Present if recipients can have params of their own. */
  readonly recipients?: readonly BatchEntry[];
  /** Used for every recipient without params of its own. */
  readonly params?: readonly string[];
}

/**
 * Renders every text once to check that it can be sent. The worker renders it again later from the same pattern.
 * Reports every param that does not fit and every text that is too long. Undefined when there are such problems.
 */
export async function planTemplate(
  { dltId, pattern }: Pick<IndexedTemplate, 'dltId' | 'pattern'>,
  entries: readonly BatchEntry[],
  given: Given,
  maxSegments: number,
  problems: FieldProblems,
): Promise<BulkContent | undefined> {
  const before = problems.count;
  const alike = entries.every(({ params }) => params === undefined);
  const withoutParams = entries.some(({ params }) => params === undefined);
  let shared: PlannedText | undefined;
  if (given.params === undefined && given.recipients !== undefined && pattern.slots.length > 0) {
    addMissingParams(entries, problems);
  } else if (given.params !== undefined || withoutParams) {
    // Checked even if no entry uses them.
    shared = renderText(pattern, given.params ?? [], 'params', maxSegments, problems);
  }
  let { encoding, segments } = shared?.plan ?? { encoding: 'GSM7' as Encoding, segments: 0 };
  const own = new Map<BatchEntry, number>();
  const usual = shared?.plan.segments ?? 0;
  const segmentsOf = (entry: BatchEntry): number => own.get(entry) ?? usual;
  const textOf = ({ params = given.params ?? [] }: BatchEntry): string => {
    const rendered = renderTemplate(pattern, params);
    return rendered.kind === 'text' ? rendered.text : '';
  };
  await inSlices(entries, (entry, index) => {
    const { params } = entry;
    if (params === undefined) return;
    const planned = renderText(pattern, params, `recipients[${index}].params`, maxSegments, problems);
    if (planned?.plan.encoding === 'UCS2') encoding = 'UCS2';
    if (planned !== undefined) own.set(entry, planned.plan.segments);
    segments = Math.max(segments, planned?.plan.segments ?? 0);
  });
  if (problems.count > before) return undefined;
  if (alike && shared !== undefined) {
    return {
      content: { kind: 'text', text: shared.text, encoding, segments, dltId },
      encoding,
      segments,
      segmentsOf,
      textOf,
    };
  }
  return {
    content: { kind: 'template', dltId, pattern, params: given.params ?? [] },
    encoding,
    segments,
    segmentsOf,
    textOf,
  };
}

function addMissingParams(entries: readonly BatchEntry[], problems: FieldProblems): void {
  for (const [index, { params }] of entries.entries()) {
    if (params !== undefined) continue;
    problems.add(`recipients[${index}].params`, 'missing_field', 'Give it here, or for all recipients in `params`.');
  }
}
