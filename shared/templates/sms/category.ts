import type { Route } from '../../messages/document/message.ts';

/** The kinds of content templates on the operators' DLT platforms (TCCCPR 2018, regulation 2). */
export const TEMPLATE_CATEGORIES = ['transactional', 'service_implicit', 'service_explicit', 'promotional'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

/** Where texts of a category may be sent. "Service Explicit" counts as promotional since 2025. */
export function routesOfTemplateCategory(category: TemplateCategory): readonly Route[] {
  return category === 'promotional' || category === 'service_explicit' ? ['promotional'] : ['transactional'];
}
