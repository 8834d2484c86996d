import type { Pattern, PatternPart } from '../../../../shared/templates/sms/pattern.ts';

/** A template as the matcher knows it. */
export interface IndexedTemplate {
  readonly dltId: string;
  readonly name: string;
  readonly senders: readonly string[];
  readonly entityId?: string;
  readonly pattern: Pattern;
}

/**
 * Templates prepared for `matchTemplate`: a tree of their parts, so that what thousands of them begin with is compared once.
 * Templates are added one by one as they come from the store, so that they do not hold the event loop.
 */
export class TemplateIndex {
  readonly templates: IndexedTemplate[] = [];
  /** The words of each template's fixed text, by which a text that matches none finds those that resemble it. */
  readonly words: (readonly string[])[] = [];
  readonly root: TemplateNode = { branches: new Map(), template: undefined };

  add(template: IndexedTemplate): void {
    const { parts } = template.pattern;
    this.templates.push(template);
    this.words.push(wordsOf(parts.map((part) => (part.kind === 'literal' ? part.text : ' ')).join('')));
    let node = this.root;
    for (const part of parts) {
      const key = part.kind === 'literal' ? `=${part.text}` : `${part.slot.type} ${part.slot.max}`;
      let branch = node.branches.get(key);
      if (branch === undefined) {
        branch = { part, node: { branches: new Map(), template: undefined } };
        node.branches.set(key, branch);
      }
      node = branch.node;
    }
    node.template = preferred(node.template, template);
  }
}

/** What some templates begin with. */
export interface TemplateNode {
  /** How these templates go on. */
  readonly branches: Map<string, { readonly part: PatternPart; readonly node: TemplateNode }>;
  /** The template that ends here. */
  template: IndexedTemplate | undefined;
}

/**
 * When several templates match, the one with the most fixed text wins, then the one with the fewest `{#var#}`, then the lowest id. So a
 * template with tags takes over from the one that it replaces as soon as it is approved.
 */
export function preferred(one: IndexedTemplate | undefined, other: IndexedTemplate): IndexedTemplate {
  if (one === undefined) return other;
  const more =
    one.pattern.literalLength - other.pattern.literalLength || anyTexts(other.pattern) - anyTexts(one.pattern);
  return more > 0 || (more === 0 && one.dltId < other.dltId) ? one : other;
}

function anyTexts({ slots }: Pattern): number {
  return slots.reduce((sum, { type }) => sum + (type === 'var' ? 1 : 0), 0);
}

/** A template has some 20. More than these tell no more of it. */
const WORDS_MAX = 32;

function wordsOf(fixed: string): string[] {
  return [...new Set(fixed.match(WORD))].slice(0, WORDS_MAX);
}

/** Letters or digits: "Rs500" are two words, because templates have "Rs" and a slot. */
export const WORD = /[\p{L}\p{M}]+|\p{N}+/gu;
