import { type IndexedTemplate, TemplateIndex } from '../../../../gateway/endpoints/sms/matching/template-index.ts';
import { type Pattern, parseContent } from '../../../../shared/templates/sms/pattern.ts';
import {
  DEFAULT_SLOT_LIMITS,
  type Slot,
  type SlotLimits,
  type SlotRule,
} from '../../../../shared/templates/sms/slot.ts';
import { isOfType } from '../../../../shared/templates/sms/slot-value.ts';

/** Reads a pattern literally: tries every length of every slot. That takes exponential time, but is so simple that it is easy to trust. */
export function referenceMatches(pattern: Pattern, text: string, part = 0, at = 0): boolean {
  const current = pattern.parts[part];
  if (current === undefined) return at === text.length;
  if (current.kind === 'literal') {
    return text.startsWith(current.text, at) && referenceMatches(pattern, text, part + 1, at + current.text.length);
  }
  for (let end = at; end <= Math.min(text.length, at + current.slot.max); end++) {
    if (fits(current.slot, text, at, end) && referenceMatches(pattern, text, part + 1, end)) return true;
  }
  return false;
}

/** Whether `text` from `start` to `end` may stand in the slot. */
export function fits(slot: Slot, text: string, start: number, end: number): boolean {
  const length = end - start;
  return length >= slot.min && length <= slot.max && isOfType(slot.type, text.slice(start, end));
}

export function patternOf(content: string, limits: Partial<SlotLimits> = {}, rules: readonly SlotRule[] = []): Pattern {
  const parsed = parseContent(content, { ...DEFAULT_SLOT_LIMITS, ...limits }, rules);
  if (parsed.kind === 'malformed') throw new Error(parsed.faults.map((fault) => fault.detail).join(' '));
  return parsed.pattern;
}

export function templateOf(
  content: string,
  dltId = '1107160000000000001',
  limits: Partial<SlotLimits> = {},
): IndexedTemplate {
  return { dltId, name: `template ${dltId}`, senders: ['HARKRA'], pattern: patternOf(content, limits) };
}

export function indexTemplates(templates: Iterable<IndexedTemplate>): TemplateIndex {
  const index = new TemplateIndex();
  for (const template of templates) index.add(template);
  return index;
}
