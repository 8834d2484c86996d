import type { Route } from '../../../messages/document/message.ts';
import type { TemplateStatus } from '../template.ts';

/**
 * The column names of the operators' exports (Jio, Vodafone Idea, Airtel, BSNL, Tata, VideoCon and the gateways behind them).
 * None of them documents its file, and each changes it. So case, spaces and signs of names are ignored, and columns may be in any
 * order.
 */
export type Column = 'id' | 'header' | 'content' | 'name' | 'entityId';

export interface Columns extends Readonly<Partial<Record<Column, number>>> {
  /** All columns that may tell the route; portals write `TEXT` or `SMS` into one and `Service Implicit` into another. */
  readonly categories: readonly number[];
  /** All columns that may tell the status: one has `Approved`, while another has `Inactive`. */
  readonly statuses: readonly number[];
}

export const REQUIRED = ['id', 'header', 'content'] as const satisfies readonly Column[];

/** In lower case, letters only. The first one that a file has is used. */
const COLUMN_NAMES: Readonly<Record<Column, readonly string[]>> = {
  id: [
    'templateid',
    'dlttemplateid',
    'contenttemplateid',
    'dltcontenttemplateid',
    'dltcontentid',
    'dltteid',
    'teid',
    'dltid',
    'tempid',
    'contentid',
    'id',
  ],
  header: [
    ...['header', 'headers', 'headername', 'headernames', 'registeredheader', 'registeredheaders', 'mappedheader'],
    ...['mappedheaders', 'linkedheader', 'linkedheaders', 'smsheader', 'headercli', 'headersenderid', 'senderidheader'],
    ...['senderid', 'senderids', 'sendername', 'sender', 'senders', 'headerid', 'headerids', 'cli'],
  ],
  content: [
    ...['templatecontent', 'contenttemplate', 'content', 'templatemessage', 'templatebody', 'templatetext'],
    ...['messagetemplate', 'messagecontent', 'messagetext', 'smscontent', 'smstext', 'message', 'text', 'template'],
  ],
  name: ['templatename', 'contenttemplatename', 'templatetitle', 'name', 'title'],
  entityId: ['entityid', 'peid', 'principalentityid', 'dltentityid'],
};

const STATUS_COLUMNS = [
  ...['status', 'templatestatus', 'approvalstatus', 'currentstatus', 'dltstatus', 'contenttemplatestatus'],
  ...['registrationstatus', 'activestatus', 'blackliststatus', 'templatestate', 'state'],
];

const CATEGORY_NAMES = [
  ...['templatetype', 'contenttype', 'type', 'category', 'templatecategory', 'communicationtype'],
  ...['messagetype', 'route'],
];

/** The portals' names of template states. */
const STATUS_NAMES: ReadonlyMap<string, TemplateStatus> = new Map([
  ...named('approved', 'approved', 'active', 'registered', 'enabled', 'whitelisted'),
  ...named('submitted', 'pending', 'submitted', 'inprocess', 'inprogress', 'underreview', 'awaiting'),
  ...named('rejected', 'rejected', 'disapproved', 'notapproved', 'inactive', 'notactive', 'deactivated', 'disabled'),
  ...named(
    'rejected',
    'deleted',
    'blacklisted',
    'blacklist',
    'blocked',
    'blocklisted',
    'barred',
    'suspended',
    'expired',
  ),
  ...named('rejected', 'unapproved', 'unregistered', 'deregistered', 'stopped', 'onhold', 'dormant'),
  ...named('rejected', 'revoked', 'withdrawn', 'surrendered', 'cancelled', 'canceled', 'discontinued', 'terminated'),
]);

function named(status: TemplateStatus, ...words: readonly string[]) {
  return words.map((word) => [word, status] as const);
}

export function findColumns(head: readonly string[]): Columns {
  const names = head.map(plain);
  const columns: Partial<Record<Column, number>> = {};
  for (const column of Object.keys(COLUMN_NAMES) as Column[]) {
    const name = COLUMN_NAMES[column].find((candidate) => names.includes(candidate));
    if (name !== undefined) columns[column] = names.indexOf(name);
  }
  const among = (list: readonly string[]) => names.flatMap((name, i) => (list.includes(name) ? [i] : []));
  return { ...columns, categories: among(CATEGORY_NAMES), statuses: among(STATUS_COLUMNS) };
}

/** The error for a file that lacks columns: which ones, which it has, and which names they may have. */
export function missingColumns(missing: readonly Column[], head: readonly string[]): string {
  const found = head
    .slice(0, HEADS_SHOWN)
    .map((one) => JSON.stringify(one.trim().slice(0, HEAD_CHARACTERS)))
    .join(', ');
  const more = head.length > HEADS_SHOWN ? ` and ${head.length - HEADS_SHOWN} more` : '';
  const names = missing.map((column) => `${column} (${NAMES_SHOWN[column]})`).join(', ');
  return `There is no column for ${names}. The file has ${found}${more}.`;
}
const HEADS_SHOWN = 20;
const HEAD_CHARACTERS = 40;

const NAMES_SHOWN: Readonly<Record<Column, string>> = {
  id: 'as "Template ID"',
  header: 'as "Header", "HEADER ID" or "Sender ID"',
  content: 'as "Template Content", "Content Template" or "Template Message"',
  name: 'as "Template Name"',
  entityId: 'as "Entity ID"',
};

/** Undefined for an unknown word. */
export function statusOf(text: string): TemplateStatus | undefined {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const found: (TemplateStatus | undefined)[] = [];
  for (let i = 0; i < words.length; i++) {
    const [word = '', next = ''] = words.slice(i, i + 2);
    // `In-Active`, `Black listed`, `De-activated`.
    const joined = STATUS_NAMES.get(word + next);
    if (joined === undefined && !NEGATIONS.has(word)) found.push(STATUS_NAMES.get(word));
    else {
      found.push(joined ?? opposite(STATUS_NAMES.get(next)));
      i++;
    }
  }
  // `Active (blacklisted)` may not be sent, nor may `Approval pending` yet. Otherwise the first word tells: `REGISTERED VIA AIRTEL`,
  // `Approved by registrar`. `Active: No` tells nothing.
  const worst = worstStatus(found.flatMap((status) => status ?? []));
  if (worst !== 'approved') return worst;
  return NEGATIONS.has(words.at(-1) ?? '') ? undefined : found[0];
}

const NEGATIONS: ReadonlySet<string> = new Set(['no', 'non', 'not', 'un']);

/** `Not Blacklisted`, `Non-active`. */
function opposite(status: TemplateStatus | undefined): TemplateStatus | undefined {
  return status === undefined || status === 'submitted' ? undefined : status === 'approved' ? 'rejected' : 'approved';
}

/** The one of several that lets the least pass. */
export function worstStatus(statuses: readonly TemplateStatus[]): TemplateStatus | undefined {
  return (['rejected', 'submitted', 'approved'] as const).find((status) => statuses.includes(status));
}

export const KNOWN_STATUSES = [...STATUS_NAMES.keys()].join(', ');

/**
 * "Service Explicit" became promotional in 2025. Undefined when the category names no route (`TEXT`, `Banking & Services`): then
 * the header tells.
 */
export function routesOfCategory(category: string): readonly Route[] | undefined {
  const name = plain(category);
  if (/promo|explicit/.test(name) || name === 'se') return ['promotional'];
  if (/transaction|implicit/.test(name)) return ['transactional'];
  return ['service', 'government', 'trans', 'si'].includes(name) ? ['transactional'] : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}
