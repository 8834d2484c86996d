import type { Pattern } from './pattern.ts';
import { SLOT_MEANING, type Slot } from './slot.ts';
import { isOfType } from './slot-value.ts';

export type Rendered =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'invalid'; readonly problems: readonly ParamProblem[] };

export interface ParamProblem {
  /** Index in the params; absent when the problem is about all of them. */
  readonly index?: number;
  readonly code: 'wrong_count' | 'too_long' | 'wrong_type';
  readonly detail: string;
}

/** Fills the slots in order. Lists every problem of every param. A returned text matches the pattern. */
export function renderTemplate(pattern: Pattern, params: readonly string[]): Rendered {
  const problems: ParamProblem[] = [];
  if (params.length !== pattern.slots.length) {
    const detail = `Give one param for each slot of the template: ${pattern.slots.length}, not ${params.length}.`;
    problems.push({ code: 'wrong_count', detail });
  }
  for (const [index, slot] of pattern.slots.entries()) {
    const value = params[index];
    if (value !== undefined) problems.push(...problemsOf(index, slot, value));
  }
  if (problems.length > 0) return { kind: 'invalid', problems };
  const pieces = pattern.parts.map((part) => (part.kind === 'literal' ? part.text : (params[part.index] ?? '')));
  return { kind: 'text', text: pieces.join('') };
}

function problemsOf(index: number, slot: Slot, value: string): ParamProblem[] {
  const problems: ParamProblem[] = [];
  if (value.length > slot.max) {
    const detail = `It has ${value.length} characters; the slot takes ${slot.max}.`;
    problems.push({ index, code: 'too_long', detail });
  }
  if (!isOfType(slot.type, value)) {
    const detail = `The slot is {#${slot.type}#} and takes ${SLOT_MEANING[slot.type]}.`;
    problems.push({ index, code: 'wrong_type', detail });
  }
  return problems;
}
