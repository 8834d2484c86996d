import type { NumberRules } from '../../shared/accounts/number-check.ts';
import { type BatchEntry, ENTRIES_MAX } from '../../shared/batches/batch.ts';
import type { JsonObject } from '../http/context.ts';
import { type FieldProblems, refuseUnknown, wrongType } from '../http/fields.ts';
import { inSlices } from '../http/slice.ts';
import { checkRecipient } from './check-recipient.ts';

/** The list that names the recipients: `to`, or our extension `recipients`. */
export interface Recipients {
  readonly field: 'to' | 'recipients';
  /** Only the good ones when there are problems. */
  readonly entries: readonly BatchEntry[];
}

/** Undefined when there is no list, two, or one of a wrong length; that and every bad entry, by its index, is a problem. */
export async function parseRecipients(
  body: JsonObject,
  rules: NumberRules,
  problems: FieldProblems,
): Promise<Recipients | undefined> {
  const field = Object.hasOwn(body, 'recipients') ? 'recipients' : 'to';
  if (field === 'recipients' && Object.hasOwn(body, 'to')) {
    problems.add('recipients', 'conflict', 'Give `to` or `recipients`, not both.');
    return undefined;
  }
  if (!Object.hasOwn(body, field)) {
    problems.add('to', 'missing_field', 'It is required.');
    return undefined;
  }
  const list: unknown = body[field];
  if (!Array.isArray(list)) {
    problems.add(field, 'wrong_type', `It must be an array, not ${wrongType(list)}.`);
    return undefined;
  }
  if (list.length === 0 || list.length > ENTRIES_MAX) {
    const detail = `It has ${list.length} entries; 1 to ${ENTRIES_MAX} are allowed.`;
    problems.add(field, 'wrong_count', detail);
    return undefined;
  }
  const entries: BatchEntry[] = [];
  await inSlices<unknown>(list, (value, index) => {
    const entry =
      field === 'to'
        ? parseTo(value, `to[${index}]`, rules, problems)
        : parseEntry(value, `recipients[${index}]`, rules, problems);
    if (entry !== undefined) entries.push(entry);
  });
  return { field, entries };
}

function parseTo(value: unknown, field: string, rules: NumberRules, problems: FieldProblems): BatchEntry | undefined {
  if (typeof value !== 'string') {
    problems.add(field, 'wrong_type', `It must be a string, not ${wrongType(value)}.`);
    return undefined;
  }
  const problem = checkRecipient(value, rules);
  if (problem === undefined) return { to: value };
  problems.add(field, problem.code, problem.detail);
  return undefined;
}

function parseEntry(
  value: unknown,
  field: string,
  rules: NumberRules,
  problems: FieldProblems,
): BatchEntry | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.add(field, 'wrong_type', `It must be an object with \`to\` and \`params\`, not ${wrongType(value)}.`);
    return undefined;
  }
  const entry: JsonObject = { ...value };
  const before = problems.count;
  refuseUnknown(entry, ['to', 'params'], problems, `${field}.`);
  const params = Object.hasOwn(entry, 'params') ? parseParams(entry.params, `${field}.params`, problems) : undefined;
  if (!Object.hasOwn(entry, 'to')) {
    problems.add(`${field}.to`, 'missing_field', 'It is required.');
    return undefined;
  }
  const parsed = parseTo(entry.to, `${field}.to`, rules, problems);
  if (parsed === undefined || problems.count > before) return undefined;
  return params === undefined ? parsed : { ...parsed, params };
}

/** Of templates: 2,000 characters have no room for more slots than this. */
const PARAMS_MAX = 250;

/** Values for the slots of a template, in order. Undefined when it is no such list. */
export function parseParams(value: unknown, field: string, problems: FieldProblems): readonly string[] | undefined {
  if (!Array.isArray(value)) {
    problems.add(field, 'wrong_type', `It must be an array of strings, not ${wrongType(value)}.`);
    return undefined;
  }
  if (value.length > PARAMS_MAX) {
    problems.add(field, 'wrong_count', `It has ${value.length} entries; no template takes more than ${PARAMS_MAX}.`);
    return undefined;
  }
  const params: string[] = [];
  for (const [index, param] of value.entries()) {
    if (typeof param === 'string') params.push(param);
    else problems.add(`${field}[${index}]`, 'wrong_type', `It must be a string, not ${wrongType(param)}.`);
  }
  return params.length === value.length ? params : undefined;
}

/** Keeps the first of equal entries; those with different params are never equal. */
export async function withoutDuplicates(entries: readonly BatchEntry[]): Promise<readonly BatchEntry[]> {
  const seen = new Set<string>();
  const kept: BatchEntry[] = [];
  await inSlices(entries, (entry) => {
    const name = entry.params === undefined ? entry.to : JSON.stringify([entry.to, entry.params]);
    if (seen.has(name)) return;
    seen.add(name);
    kept.push(entry);
  });
  return kept;
}
