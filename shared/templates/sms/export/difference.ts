import { sameText } from '../line-breaks.ts';
import type { ChangedField, TemplateDocument, TemplateStatus, TemplateUpdate } from '../template.ts';
import type { TemplateRow } from './csv.ts';

/** A registered template of which the file says something else. */
export interface TemplateDifference {
  /** Of the file. */
  readonly line: number;
  readonly dltId: string;
  readonly changes: readonly {
    readonly field: ChangedField;
    readonly old: string;
    readonly new: string;
  }[];
}

export interface ComparedBy {
  readonly exactLineBreaks?: boolean | undefined;
  /** The account's PE id, which a template without one has. */
  readonly entityId?: string | undefined;
  /** The account itself imports. It may say that a template is not to be sent any more; all else waits for an operator. */
  readonly asRequests?: boolean | undefined;
}

/** Compares a row with what is stored under its id. Only what the file itself tells counts; undefined when it tells nothing new. */
export function differenceOf(
  before: TemplateDocument,
  row: TemplateRow,
  { exactLineBreaks, entityId, asRequests = false }: ComparedBy,
): { readonly told: TemplateDifference; readonly update: TemplateUpdate } | undefined {
  const text: Partial<Pick<TemplateDocument, Exclude<ChangedField, 'status'>>> = {
    ...(sameText(before.content, row.content, exactLineBreaks) ? {} : { content: row.content }),
    ...(sameSet(before.senders, row.senders) ? {} : { senders: row.senders }),
    ...(!row.told.includes('routes') || sameSet(before.routes, row.routes) ? {} : { routes: row.routes }),
    ...(row.entityId === undefined || row.entityId === (before.entityId ?? entityId) ? {} : { entityId: row.entityId }),
  };
  const hasOtherText = Object.keys(text).length > 0;
  const wanted = row.told.includes('status') ? row.status : before.status;
  const status = asRequests ? asked(before.status, wanted, hasOtherText) : wanted;
  const set = { ...(status === before.status ? {} : { status }), ...text };
  const fields = (['status', 'content', 'senders', 'routes', 'entityId'] as const).filter((field) => field in set);
  if (fields.length === 0) return undefined;
  const changes = fields.map((field) => ({ field, old: shown(before[field]), new: shown(set[field]) }));
  return {
    told: { line: row.line, dltId: row.dltId, changes },
    update: {
      ...{ before, set },
      ...(status === 'rejected' ? { reason: row.reason } : {}),
      ...(asRequests && status === 'submitted' ? { requested: true } : {}),
    },
  };
}

function asked(before: TemplateStatus, wanted: TemplateStatus, hasOtherText: boolean): TemplateStatus {
  if (wanted === 'rejected') return 'rejected';
  return before === 'rejected' || hasOtherText ? 'submitted' : before;
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry) => other.includes(entry));
}

function shown(value: string | readonly string[] | undefined): string {
  return typeof value === 'object' ? value.join(', ') : (value ?? '');
}
