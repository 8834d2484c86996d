import type { Pattern } from '../../../shared/templates/sms/pattern.ts';
import type { TemplateCategory } from '../../../shared/templates/sms/template.ts';

export interface TemplateRefusal {
  readonly certainty: 'sure' | 'possible';
  readonly cause: string;
  readonly advice: string;
}

/** Kept with a recorded reason by some portals; others take more. */
const SLOTS_MAX = 3;

/**
 * What DLT platforms refuse a new template for. Pure. Sources: TRAI's direction of 18-11-2025 on tagged variables, in force for new
 * templates since 14-01-2026 (Fast2SMS), with its rules about the number and place of variables (BSE's copy); Kaleyra's "Promotional" and
 * "Service Explicit Message Content Type" (articles 3000105308, 3000105307).
 */
export function templateRefusals(
  { parts, slots }: Pattern,
  category: TemplateCategory | undefined,
): readonly TemplateRefusal[] {
  const found: TemplateRefusal[] = [];
  const add = (certainty: TemplateRefusal['certainty'], cause: string, advice: string) =>
    found.push({ certainty, cause, advice });
  const fixed = parts.flatMap((part) => (part.kind === 'literal' ? part.text : []));
  if (slots.some(({ type }) => type === 'var')) {
    add(
      'sure',
      'Platforms take no new template with {#var#} since 14 January 2026.',
      'Say what each variable holds: {#numeric#}, {#alphanumeric#}, {#url#}, {#urlott#}, {#cbn#} or {#email#}.',
    );
  }
  if (parts.some((part, i) => part.kind === 'slot' && parts[i + 1]?.kind === 'slot')) {
    add('possible', 'Two variables stand side by side.', 'Put fixed text between them.');
  }
  if (slots.length > SLOTS_MAX) {
    add(
      'possible',
      `It has ${slots.length} variables; many platforms take ${SLOTS_MAX}.`,
      'Write more of it as fixed text.',
    );
  }
  if (fixed.some((text) => text.includes('  '))) {
    add('possible', 'Two spaces stand side by side in the fixed text.', 'Remove one.');
  }
  if (fixed.some((text) => /[<>]/.test(text))) add('possible', 'The fixed text has < or >.', 'Remove it.');
  if (slots.length === 0 && (category === 'transactional' || category === 'service_implicit')) {
    add(
      'possible',
      'A template of this category has no variable.',
      'Make one of what differs, or choose another category.',
    );
  }
  return found;
}
