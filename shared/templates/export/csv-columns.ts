import type { Route } from '../../messages/message.ts';
import type { TemplateStatus } from '../template.ts';

/**
 * The column names of the operators' exports (Jio, Vodafone Idea, Airtel, BSNL, Tata, VideoCon and the gateways behind them).
 * None of them documents its file, and each changes it. So case, spaces and signs of names are ignored, and columns may be in any
 * order.
 */
export type Column = 'id' | 'header' | 'content' | 'name' | 'entityId' | 'status';

export interface Columns extends Readonly<Partial<Record<Column, number>>> {
  /** All columns that may tell the route; portals write `TEXT` or `SMS` into one and `Service Implicit` into another. */
  readonly categories: readonly number[];
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
  status: ['templatestatus', 'approvalstatus', 'currentstatus', 'dltstatus', 'status'],
};

const CATEGORY_NAMES = [
  ...['templatetype', 'contenttype', 'type', 'category', 'templatecategory', 'communicationtype'],
  ...['messagetype', 'route'],
];

/** The portals' names of template states. */
const STATUS_NAMES: Readonly<Record<string, TemplateStatus>> = {
  approved: 'approved',
  active: 'approved',
  registered: 'approved',
  pending: 'submitted',
  submitted: 'submitted',
  inprocess: 'submitted',
  inprogress: 'submitted',
  rejected: 'rejected',
  disapproved: 'rejected',
  inactive: 'rejected',
  deactivated: 'rejected',
  deleted: 'rejected',
  blacklisted: 'rejected',
  blocked: 'rejected',
  suspended: 'rejected',
  expired: 'rejected',
};

export function findColumns(head: readonly string[]): Columns {
  const names = head.map(plain);
  const columns: Partial<Record<Column, number>> = {};
  for (const column of Object.keys(COLUMN_NAMES) as Column[]) {
    const name = COLUMN_NAMES[column].find((candidate) => names.includes(candidate));
    if (name !== undefined) columns[column] = names.indexOf(name);
  }
  const categories = names.flatMap((name, i) => (CATEGORY_NAMES.includes(name) ? [i] : []));
  return { ...columns, categories };
}

/** The error for a file that lacks columns: which ones, which it has, and which names they may have. */
export function missingColumns(missing: readonly Column[], head: readonly string[]): string {
  const found = head.map((one) => JSON.stringify(one.trim())).join(', ');
  const names = missing.map((column) => `${column} (${NAMES_SHOWN[column]})`).join(', ');
  return `There is no column for ${names}. The file has ${found}.`;
}

const NAMES_SHOWN: Readonly<Record<Column, string>> = {
  id: 'as "Template ID"',
  header: 'as "Header", "HEADER ID" or "Sender ID"',
  content: 'as "Template Content", "Content Template" or "Template Message"',
  name: 'as "Template Name"',
  entityId: 'as "Entity ID"',
  status: 'as "Status"',
};

/** Undefined for an unknown word. An empty status means approved. */
export function statusOf(text: string): TemplateStatus | undefined {
  if (plain(text) === '') return 'approved';
  // The first word tells: `REGISTERED VIA AIRTEL`, `Approved by registrar`.
  const [first = ''] = text.toLowerCase().match(/[a-z]+/g) ?? [];
  return STATUS_NAMES[plain(text)] ?? STATUS_NAMES[first];
}

export const KNOWN_STATUSES = Object.keys(STATUS_NAMES).join(', ');

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
