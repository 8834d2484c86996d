import { isSenderForm } from '../../carriers/sender.ts';
import type { Route } from '../../messages/document/message.ts';
import { isExponential } from '../../platform/sheets/cell.ts';
import { CONTENT_MAX, parseContent } from './pattern.ts';
import { DEFAULT_SLOT_LIMITS } from './slot.ts';
import type { NewTemplate } from './template.ts';

export interface TemplateFault {
  readonly field: 'dltId' | 'name' | 'senders' | 'routes' | 'entityId' | 'content';
  readonly detail: string;
}

export const NAME_MAX = 200;
const OWN_NAME_MAX = 40;
/** Most senders of one template. */
export const SENDERS_MAX = 100;

/** Template and PE ids: 19 digits mostly, 10 to 20 have been seen. */
export function isDltId(text: string): boolean {
  return /^[0-9]{10,20}$/.test(text);
}

/** Everything that is wrong with a template before it is stored; empty when nothing is. */
export function templateFaults(template: NewTemplate): TemplateFault[] {
  const { dltId, name, senders, routes, entityId, content, slots } = template;
  const faults: TemplateFault[] = [];
  const add = (field: TemplateFault['field'], detail: string): void => {
    faults.push({ field, detail });
  };
  if (!isDltId(dltId)) add('dltId', idDetail(dltId));
  if (name === '' || name.length > NAME_MAX) add('name', `It must have 1 to ${NAME_MAX} characters.`);
  if (senders.length === 0 || senders.length > SENDERS_MAX) add('senders', `It must name 1 to ${SENDERS_MAX} senders.`);
  for (const sender of senders) {
    if (!isSenderForm(sender)) add('senders', `${JSON.stringify(sender.slice(0, 20))} is no sender.`);
  }
  if (routes.length === 0) add('routes', 'It must name a route.');
  if (entityId !== undefined && !isDltId(entityId)) add('entityId', idDetail(entityId));
  // Limits only affect matching, not whether the content is well-formed.
  const parsed = parseContent(content, DEFAULT_SLOT_LIMITS, slots);
  if (parsed.kind === 'malformed') {
    for (const { at, detail } of parsed.faults)
      add('content', `At character ${Math.min(at, CONTENT_MAX) + 1}: ${detail}`);
  }
  return faults;
}

/** What people call a template to which nobody gave a name: the beginning of its text, on one line. */
export function nameOfText(content: string): string {
  const line = content.replaceAll(/\s+/g, ' ').trim();
  const start = [...line].slice(0, OWN_NAME_MAX).join('');
  return start === line ? line : `${start.trimEnd()}…`;
}

/** By the operators' header rules, promotional headers are digits and all others have letters; a brand's header may differ. */
export function routesOfSenders(senders: readonly string[]): readonly Route[] {
  return senders.every((sender) => /^[0-9]+$/.test(sender)) ? ['promotional'] : ['transactional'];
}

function idDetail(id: string): string {
  const hint = isExponential(id) ? ' A spreadsheet has rounded it: export the column as text.' : '';
  return `${JSON.stringify(id.slice(0, 30))} is not 10 to 20 digits.${hint}`;
}
