import { hash } from 'node:crypto';
import { isSenderForm } from '../../carriers/sender.ts';
import type { Route } from '../../messages/document/message.ts';
import type { AccountId, TemplateRequestId } from '../../platform/runtime/ids.ts';
import { isExponential } from '../../platform/sheets/cell.ts';
import { CONTENT_MAX, type Pattern, parseContent } from './pattern.ts';
import type { SlotRule } from './slot.ts';

/**
 * A content template on the operators' DLT platform, registered to an account: `{_id: 'acc_01…:1107160000000012345',
 * dltId: '1107160000000012345', senders: ['HARKRA'], content: 'Your OTP is {#var#}.'}`. Operators give a changed text a
 * new id, so the content changes only in an account's own rejected request, and by an import with `update`. Operators
 * assign the ids, so two accounts may have the same.
 */
export interface TemplateDocument {
  readonly _id: TemplateKey;
  readonly account: AccountId;
  /** 10 to 20 digits, assigned by the operator; `id` in the API, and sent to the carrier. */
  readonly dltId: string;
  readonly name: string;
  /** Headers that may send it, without an operator's prefix or suffix. */
  readonly senders: readonly string[];
  readonly routes: readonly Route[];
  /** PE id of the business that registered it, when it is not the account's own. */
  readonly entityId?: string;
  /** With slots, exactly as registered (pattern.ts). */
  readonly content: string;
  /** The rules of slots written `{#var#}`, by slot order, where the operator keeps them beside the text. */
  readonly slots?: readonly SlotRule[];
  readonly status: TemplateStatus;
  /** Known of templates that the account asked for. */
  readonly category?: TemplateCategory;
  /** Until approved, the account may change it, so an approval names the text that was read (`templateVersion`). */
  readonly requested?: true;
  /** Its place among unapproved templates that the account asked for (quotas.ts). */
  readonly place?: number;
  /** First approval. Since then only operators decide, because messages that wait may have its text. */
  readonly approvedAt?: Date;
  /** The request that it was before it had its id. */
  readonly request?: TemplateRequestId;
  /** Decisions that webhooks have not got yet (shared/events/catalogue.ts). */
  readonly unannounced?: readonly UnannouncedDecision[];
  readonly createdAt: Date;
  readonly decidedAt?: Date;
  /** Set by ops. Its messages are accepted, but they wait. */
  readonly paused?: true;
  readonly reason?: string;
}

export interface UnannouncedDecision {
  readonly event: 'approved' | 'rejected';
  readonly status: TemplateStatus;
  readonly reason?: string;
  readonly at: Date;
  /** The request that the decision was about, which is the template now. */
  readonly request?: TemplateRequestId;
}

/** For deletions: everything of the template is announced. */
export const ALL_ANNOUNCED = { 'unannounced.0': { $exists: false } } as const;

export type TemplateKey = `${AccountId}:${string}`;
export type TemplateStatus = 'submitted' | 'approved' | 'rejected';

/** An operator may withdraw an approval, and may approve after a rejection. */
export const MAY_BECOME = {
  approved: ['submitted', 'rejected'],
  rejected: ['submitted', 'approved'],
} as const satisfies Record<string, readonly TemplateStatus[]>;

export type NewTemplate = Pick<TemplateDocument, 'dltId' | 'name' | 'senders' | 'routes' | 'content' | 'status'> & {
  readonly [Name in 'entityId' | 'slots' | 'reason' | 'category' | 'requested' | 'request' | 'unannounced']?:
    | TemplateDocument[Name]
    | undefined;
};

export type ChangedField = 'status' | 'content' | 'senders' | 'routes' | 'entityId';

/** Written only while the stored template is still `before`. */
export interface TemplateUpdate {
  readonly before: TemplateDocument;
  readonly set: Partial<Pick<TemplateDocument, ChangedField>>;
  readonly reason?: string | undefined;
  /** The account asks for it: an operator must read it. */
  readonly requested?: true;
}

export function templateKey(account: AccountId, dltId: string): TemplateKey {
  return `${account}:${dltId}`;
}

export type TemplateText = Pick<TemplateDocument, 'content' | 'senders' | 'routes' | 'entityId'>;

/** Whoever approves a text names what was read, so that nobody exchanges it before the approval. */
export function templateVersion({ content, senders, routes, entityId }: TemplateText): string {
  return hash('sha256', JSON.stringify([content, senders, routes, entityId]), 'hex').slice(0, VERSION_CHARACTERS);
}
const VERSION_CHARACTERS = 12;

/** TCCCPR 2018, regulation 2. */
export const TEMPLATE_CATEGORIES = ['transactional', 'service_implicit', 'service_explicit', 'promotional'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

/** "Service Explicit" counts as promotional since 2025. */
export function routesOfTemplateCategory(category: TemplateCategory): readonly Route[] {
  return category === 'promotional' || category === 'service_explicit' ? ['promotional'] : ['transactional'];
}

/** CR LF, CR and LF are the same to most operators. An account may compare exactly (`lineBreaks: 'exact'`). */
export function foldLineBreaks(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
}

export interface ComparedBy {
  readonly lineBreaks?: 'any' | 'exact';
}

export function comparedText(text: string, { lineBreaks }: ComparedBy): string {
  return lineBreaks === 'exact' ? text : foldLineBreaks(text);
}

/** Undefined for content that no text matches. */
export function comparedPattern(
  { content, slots }: Pick<TemplateDocument, 'content' | 'slots'>,
  by: ComparedBy,
): Pattern | undefined {
  const parsed = parseContent(comparedText(content, by), slots);
  return parsed.kind === 'pattern' ? parsed.pattern : undefined;
}

/** The index in `text` of what is at `at` in its folded form. */
export function placeBeforeFolding(text: string, at: number): number {
  let place = 0;
  for (let folded = 0; folded < at; folded++) place += text.startsWith('\r\n', place) ? 2 : 1;
  return place;
}

export function sameText(one: string, other: string, exact = false): boolean {
  return one === other || (!exact && foldLineBreaks(one) === foldLineBreaks(other));
}

/** Asked for by an account, without an operator's id. With an id it becomes a `submitted` template. */
export interface TemplateRequestDocument
  extends Pick<
    TemplateDocument,
    | 'account'
    | 'name'
    | 'senders'
    | 'routes'
    | 'entityId'
    | 'content'
    | 'category'
    | 'reason'
    | 'createdAt'
    | 'decidedAt'
  > {
  readonly _id: TemplateRequestId;
  readonly status: 'requested' | 'rejected';
  readonly place: number;
  /** Set when the request has its id and becomes a template: whoever reads it finishes that. */
  readonly dltId?: string;
  readonly unannounced?: readonly UnannouncedDecision[];
}

interface TemplateFault {
  readonly field: 'dltId' | 'name' | 'senders' | 'routes' | 'entityId' | 'content';
  readonly detail: string;
}

export const NAME_MAX = 200;
const OWN_NAME_MAX = 40;
export const SENDERS_MAX = 100;

/** 19 digits mostly, 10 to 20 have been seen. */
export function isDltId(text: string): boolean {
  return /^[0-9]{10,20}$/.test(text);
}

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
  const parsed = parseContent(content, slots);
  if (parsed.kind === 'malformed') {
    for (const { at, detail } of parsed.faults)
      add('content', `At character ${Math.min(at, CONTENT_MAX) + 1}: ${detail}`);
  }
  return faults;
}

/** For a template without a name: the beginning of its text, on one line. */
export function nameOfText(content: string): string {
  const line = content.replaceAll(/\s+/g, ' ').trim();
  const start = [...line].slice(0, OWN_NAME_MAX).join('');
  return start === line ? line : `${start.trimEnd()}…`;
}

/** By the operators' rules, promotional headers are digits and others have letters; a brand's may differ. */
export function routesOfSenders(senders: readonly string[]): readonly Route[] {
  return senders.every((sender) => /^[0-9]+$/.test(sender)) ? ['promotional'] : ['transactional'];
}

function idDetail(id: string): string {
  const hint = isExponential(id) ? ' A spreadsheet has rounded it: export the column as text.' : '';
  return `${JSON.stringify(id.slice(0, 30))} is not 10 to 20 digits.${hint}`;
}
