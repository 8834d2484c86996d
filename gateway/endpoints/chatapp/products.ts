import type { ProductSection } from '../../../shared/messages/document/chat-message.ts';
import type { TemplateComponents } from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { type Kind, list, matching, object, optional, required, type Values } from '../../http/fields/field.ts';
import { text } from './fields.ts';

/** Products of the catalog that the provider has for the account: in messages and in templates. */

export const SECTIONS_MAX = 10;
const PRODUCTS_MAX = 30;

export function digits(description: string): Kind<string> {
  return matching(description, /^[0-9]{1,32}$/, '1 to 32 digits');
}

/** The id in the catalog; the provider calls it content id or retailer id. */
export function productId(description: string): Kind<string> {
  return text({ description, maxLength: 100, trimmed: true });
}

export const sectionTitle = optional(text({ description: 'Needed if there are several sections.', maxLength: 24 }));
export const productIds = list(productId('Id of a product in the catalog (content id, retailer id).'), {
  ...{ description: 'At most 30 in all sections.', minItems: 1, maxItems: PRODUCTS_MAX },
});

const PRODUCTS = {
  catalog_id: optional(digits('Of a product in the header, or in the cards: the catalog.')),
  product_id: optional(
    productId('The product in the header; of a catalog or a list of products the one whose picture is shown.'),
  ),
  sections: optional(
    list(object({ title: sectionTitle, product_ids: required(productIds) }), {
      ...{ description: 'Of a list of products.', minItems: 1, maxItems: SECTIONS_MAX },
    }),
  ),
};
export const products = optional(
  object(PRODUCTS).meta({ description: 'Extension: for a template that shows products of the catalog.' }),
);
export type GivenProducts = Values<typeof PRODUCTS>;

/** Adds a problem for each member of `products` that the template needs but is missing, or does not take. */
export function checkProducts(
  given: GivenProducts | undefined,
  { header, buttons, cards = [] }: TemplateComponents,
  problems: FieldProblems,
): void {
  const has = (type: string): boolean => buttons.some((button) => button.type === type);
  const inHeader = header?.format === 'product';
  const inCards = cards.some((card) => card.header?.format === 'product');
  const needs = new Set([
    ...(inHeader ? ['catalog_id', 'product_id'] : []),
    ...(inCards ? ['catalog_id'] : []),
    ...(has('mpm') ? ['product_id', 'sections'] : []),
  ]);
  const takes = has('catalog') ? [...needs, 'product_id'] : [...needs];
  if (given === undefined && needs.size === 0) return;
  for (const name of needs) {
    if (given === undefined || !Object.hasOwn(given, name)) {
      problems.add(`products.${name}`, 'missing_field', 'The template shows products, and needs it.');
    }
  }
  for (const name of Object.keys(given ?? {})) {
    if (!takes.includes(name)) problems.add(`products.${name}`, 'conflict', 'The template has no place for it.');
  }
  noteSections(given?.sections ?? [], 'products.sections', problems);
}

/** Each of several sections needs a title; the number of products is limited. */
export function noteSections(
  sections: readonly { readonly title?: string; readonly product_ids?: readonly string[] }[],
  field: string,
  problems: FieldProblems,
): void {
  for (const [i, { title }] of sections.entries()) {
    if (title === undefined && sections.length > 1) {
      problems.add(`${field}[${i}].title`, 'missing_field', 'Each of several sections needs one.');
    }
  }
  const count = sections.reduce((sum, { product_ids: ids = [] }) => sum + ids.length, 0);
  if (count > PRODUCTS_MAX) {
    problems.add(field, 'wrong_count', `They have ${count} products together; at most ${PRODUCTS_MAX} are allowed.`);
  }
}

export function productSection({
  title,
  product_ids: ids = [],
}: {
  readonly title?: string;
  readonly product_ids?: readonly string[];
}): ProductSection {
  return { ...(title !== undefined && { title }), products: ids };
}
