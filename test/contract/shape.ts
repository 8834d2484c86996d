import type { Answer } from './client.ts';
import { type Field, PROBLEM } from './tables/fields.ts';

/** "timestamp (ISO 8601 date-time with a UTC offset, for example the shape `YYYY-MM-DDThh:mm:ss+hh:mm`)". */
export const TIMESTAMP = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d[+-]\d\d:\d\d$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
/** "strings of digits, country code first, no plus sign". */
const PHONE = /^[1-9]\d{7,14}$/;

/** Requires exactly these members, in this order and of these types; `extras` may follow. */
export function expectRecord(record: unknown, fields: readonly Field[], extras: readonly string[] = []): void {
  expect(record).to.be.an('object');
  const members = { ...Object(record) } as Readonly<Record<string, unknown>>; // an object: checked in the line above
  const names = Object.keys(members);
  expect(names.slice(0, fields.length), JSON.stringify(record)).to.deep.equal(fields.map(({ name }) => name));
  expect(extras, 'beyond the specification').to.include.members(names.slice(fields.length));
  for (const field of fields) expectType(members[field.name], field);
}

function expectType(value: unknown, { name, type, values, of, optional }: Field): void {
  if (value === null && optional) return;
  if (type === 'integer') {
    expect(value, name).to.satisfy(Number.isSafeInteger);
    return;
  }
  if (type === 'array') {
    expect(value, name).to.be.an('array');
    for (const entry of Array.isArray(value) ? value : []) expectEntry(entry, name, of);
    return;
  }
  expect(value, name).to.be.a('string').and.not.empty;
  if (type === 'timestamp') expect(value, name).to.match(TIMESTAMP);
  if (type === 'date') expect(value, name).to.match(DATE);
  if (type === 'phone') expect(value, name).to.match(PHONE);
  if (values !== undefined) expect(values, name).to.include(value);
}

function expectEntry(entry: unknown, name: string, of: Field['of']): void {
  if (Array.isArray(of)) expectRecord(entry, of);
  else expect(entry, name).to.be.a('string');
}

/** An error answer: its status, its media type, and every required member. */
export function expectProblem(answer: Answer, status: number, code?: string): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers.get('content-type')).to.match(/^application\/problem\+json(;|$)/);
  const { retryable, ...members } = answer.body;
  expectRecord(members, PROBLEM, Object.keys(members).slice(PROBLEM.length));
  expect(retryable, 'retryable').to.be.a('boolean');
  expect(members.status, 'status in the body').to.equal(status);
  expect(members.status_code, 'status_code').to.match(/^[45]\d{3}$/);
  if (code !== undefined) expect(members.code, answer.text).to.equal(code);
}

export function namedFields({ body }: Answer): string[] {
  const errors: unknown = body.errors;
  if (!Array.isArray(errors)) return [];
  return errors.map((one: { readonly field?: unknown }) => String(one.field));
}
