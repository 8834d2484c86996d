import { CONTENT_MAX, parseContent } from '../../../shared/templates/sms/pattern.ts';
import { DEFAULT_SLOT_LIMITS } from '../../../shared/templates/sms/slot.ts';

/** What is wrong with a template's text, with the place of each fault, counted from 1. */
export function contentFaults(content: string): readonly { readonly at: number; readonly detail: string }[] {
  const parsed = parseContent(content, DEFAULT_SLOT_LIMITS);
  if (parsed.kind === 'pattern') return [];
  return parsed.faults.map(({ at, detail }) => {
    const place = Math.min(at, CONTENT_MAX) + 1;
    return { at: place, detail: `At character ${place}: ${detail}` };
  });
}
