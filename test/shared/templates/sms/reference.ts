import { type IndexedTemplate, TemplateIndex } from '../../../../gateway/endpoints/sms/matching/match.ts';
import { type Pattern, parseContent } from '../../../../shared/templates/sms/pattern.ts';
import { isOfType, type Slot, type SlotRule, type SlotType } from '../../../../shared/templates/sms/slot.ts';

export type Limits = Readonly<Partial<Record<SlotType, number>>>;

/** A literal reading of a pattern that tries every length of every slot: exponential, but simple enough to trust. */
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

/** `limits` replace the usual ones, for matchers that try every length. */
export function patternOf(content: string, limits: Limits = {}, rules: readonly SlotRule[] = []): Pattern {
  const parsed = parseContent(content, rules);
  if (parsed.kind === 'malformed') throw new Error(parsed.faults.map((fault) => fault.detail).join(' '));
  const { slots, parts, ...rest } = parsed.pattern;
  const limited = (slot: Slot): Slot => ({ ...slot, max: limits[slot.type] ?? slot.max });
  return {
    ...rest,
    slots: slots.map(limited),
    parts: parts.map((part) => (part.kind === 'slot' ? { ...part, slot: limited(part.slot) } : part)),
  };
}

export function templateOf(content: string, dltId = '1107160000000000001', limits: Limits = {}): IndexedTemplate {
  return { dltId, name: `template ${dltId}`, senders: ['HARKRA'], pattern: patternOf(content, limits) };
}

export function indexTemplates(templates: Iterable<IndexedTemplate>): TemplateIndex {
  const index = new TemplateIndex();
  for (const template of templates) index.add(template);
  return index;
}
