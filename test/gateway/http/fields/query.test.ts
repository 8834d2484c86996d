import { choice, optional, required, schemaOf, string } from '../../../../gateway/http/fields/field.ts';
import {
  cursorOf,
  cursorText as cursorTo,
  limit,
  queryTime,
  readQuery,
} from '../../../../gateway/http/fields/query.ts';
import { request, whole } from '../../../../gateway/http/fields/request.ts';

const isKey = (text: string): text is `key_${string}` => text.startsWith('key_');
const LIST = request({
  to: required(string({ description: 'Whose.' }, (text) => text)),
  state: optional(choice(['active', 'revoked'], 'Only those.')),
  since: optional(queryTime('From then on.')),
  limit,
  cursor: cursorOf('keys', isKey),
});
const CONTEXT = { account: {}, now: new Date('2026-11-28T12:00:00Z'), config: { maxSegments: 10, validityHours: 48 } };

const read = (query: string) => readQuery(LIST.fields, { url: `/v2/things?${query}` }, CONTEXT, LIST.rules);
const problemsOf = (query: string) =>
  read(query).problems.listed.map(({ field, code, detail }) => [field, code, detail]);

describe('readQuery', () => {
  it('reads each parameter by its kind', () => {
    const cursor = cursorTo('keys', 'key_1');
    const given = whole(read(`to=a%20b&state=active&since=2026-11-01T10:00:00%2B05:30&limit=7&cursor=${cursor}`));

    expect(given).to.deep.equal({
      to: 'a b',
      state: 'active',
      since: new Date('2026-11-01T04:30:00Z'),
      limit: 7,
      cursor: 'key_1',
    });
  });

  it('has 50 entries on a page unless the query says otherwise', () => {
    expect(whole(read('to=a'))).to.deep.equal({ to: 'a', limit: 50 });
  });

  it('takes a time before 1970 for 1970', () => {
    expect(read('to=a&since=1960-01-01T00:00:00Z').given.since).to.deep.equal(new Date(0));
  });

  const NOT_A_TIME = 'It must be an ISO 8601 date-time with an offset, for example 2027-01-31T18:00:00Z.';
  const NOT_A_CURSOR = 'It must be the `next_cursor` of an earlier page of this list.';
  const rows: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    ['', [['to', 'missing_field', 'It is required.']]],
    ['to=a&stat=active', [['stat', 'unknown_field', 'There is no such field. Did you mean "state"?']]],
    ['to=a&to=b', [['to', 'conflict', 'It is given more than once.']]],
    ['to=%ff', [['to', 'invalid_text', 'It must be UTF-8, percent-encoded.']]],
    ['to=a&state=x', [['state', 'invalid_value', 'It must be one of active, revoked.']]],
    ['to=a&since=soon', [['since', 'invalid_time', NOT_A_TIME]]],
    ['to=a&since=2026-11-01T10:00:00+05:30', [['since', 'invalid_time', `${NOT_A_TIME} Write + as %2B in a query.`]]],
    ['to=a&limit=x', [['limit', 'invalid_value', 'It must be a whole number.']]],
    ['to=a&limit=0', [['limit', 'out_of_range', 'It must be from 1 to 500.']]],
    ['to=a&limit=501', [['limit', 'out_of_range', 'It must be from 1 to 500.']]],
    ['to=a&cursor=x', [['cursor', 'invalid_value', NOT_A_CURSOR]]],
    [`to=a&cursor=${cursorTo('users', 'key_1')}`, [['cursor', 'invalid_value', NOT_A_CURSOR]]],
  ];
  for (const [query, problems] of rows) {
    it(`refuses ?${query}`, () => {
      expect(problemsOf(query)).to.deep.equal(problems);
    });
  }

  it('reports all problems at once: what the query must not have, then the parameters in their order', () => {
    expect(problemsOf('x=1&limit=0&state=y&to=a&to=b').map(([field]) => field)).to.deep.equal([
      'x',
      'to',
      'state',
      'limit',
    ]);
  });

  it('shows the limits of a page in the schema', () => {
    expect(schemaOf(limit)).to.deep.equal({
      ...{ type: 'integer', description: 'Entries of a page.', minimum: 1, maximum: 500, default: 50 },
    });
  });
});
