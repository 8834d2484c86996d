import type { BatchContent, BatchEntry } from '../../shared/batches/batch.ts';
import { type Encoding, planText } from '../../shared/sms/segment.ts';
import type { Pattern } from '../../shared/templates/pattern.ts';
import { renderTemplate } from '../../shared/templates/render.ts';
import { textProblem } from '../fields/message-fields.ts';
import type { Recipients } from '../fields/recipients.ts';
import type { FieldProblems } from '../http/fields.ts';
import { inSlices } from '../http/slice.ts';
import type { IndexedTemplate } from '../templates/template-index.ts';

/** What the recipients of a batch get, and how the longest of it will travel. */
export interface BulkContent {
  readonly content: BatchContent;
  readonly encoding: Encoding;
  readonly segments: number;
}

export interface TemplateOrder {
  readonly template: Pick<IndexedTemplate, 'dltId' | 'pattern'>;
  readonly recipients: Recipients;
  /** The request's own, which serve every entry that has none. */
  readonly params: readonly string[] | undefined;
  readonly maxSegments: number;
}

/**
 * Renders every text once to see that it can be sent; the worker renders it again from the same pattern. Every param that
 * does not fit, and every text that gets too long, is a problem. Undefined when there are some.
 */
export async function planTemplate(order: TemplateOrder, problems: FieldProblems): Promise<BulkContent | undefined> {
  const { template, recipients, params, maxSegments } = order;
  const { dltId, pattern } = template;
  const before = problems.count;
  const shared = renderShared(order, problems);
  let longest = shared === undefined ? { encoding: 'GSM7' as Encoding, segments: 0 } : planText(shared);
  await inSlices(recipients.entries, ({ params: own }, index) => {
    if (own === undefined) return;
    const text = render(pattern, own, `recipients[${index}].params`, maxSegments, problems);
    if (text === undefined) return;
    const plan = planText(text);
    longest = {
      encoding: plan.encoding === 'UCS2' ? 'UCS2' : longest.encoding,
      segments: Math.max(plan.segments, longest.segments),
    };
  });
  if (problems.count > before) return undefined;
  const { encoding, segments } = longest;
  const same = shared !== undefined && recipients.entries.every(({ params: own }) => own === undefined);
  return {
    content: same
      ? { kind: 'text', text: shared, encoding, segments, dltId }
      : { kind: 'template', dltId, pattern, params: params ?? [] },
    encoding,
    segments,
  };
}

/** The text of the entries without params of their own. Undefined when there are none, or when it cannot be rendered. */
function renderShared({ template, recipients, params, maxSegments }: TemplateOrder, problems: FieldProblems) {
  const { pattern } = template;
  const needed = recipients.entries.some((entry) => entry.params === undefined);
  if (params === undefined && recipients.field === 'recipients' && pattern.slots.length > 0) {
    for (const [index, entry] of recipients.entries.entries()) {
      if (entry.params !== undefined) continue;
      problems.add(`recipients[${index}].params`, 'missing_field', 'It is required, here or for all in `params`.');
    }
    return undefined;
  }
  // What is given is checked also when every entry has its own.
  if (params === undefined && !needed) return undefined;
  return render(pattern, params ?? [], 'params', maxSegments, problems);
}

function render(
  pattern: Pattern,
  params: readonly string[],
  field: string,
  maxSegments: number,
  problems: FieldProblems,
): string | undefined {
  const rendered = renderTemplate(pattern, params);
  if (rendered.kind === 'invalid') {
    for (const { index, code, detail } of rendered.problems) {
      problems.add(index === undefined ? field : `${field}[${index}]`, code, detail);
    }
    return undefined;
  }
  const problem = textProblem(rendered.text, planText(rendered.text), maxSegments);
  if (problem === undefined) return rendered.text;
  problems.add(field, problem.code, problem.detail);
  return undefined;
}

/** Whether an entry has params, which only a template has slots for. */
export function hasParams(entries: readonly BatchEntry[]): boolean {
  return entries.some(({ params }) => params !== undefined);
}
