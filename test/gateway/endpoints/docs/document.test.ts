import { constraintsOf, typeOf } from '../../../../gateway/endpoints/docs/operation.ts';
import type { Schema } from '../../../../gateway/http/fields/field.ts';
import { ACCOUNT_KEY_SCOPES } from '../../../../shared/people/keys/key.ts';
import { contract, contractText, operations } from '../../../support/openapi.ts';

const KEY_SCOPES: ReadonlySet<string> = new Set(ACCOUNT_KEY_SCOPES);

/** What documentation pages and client generators need (test/peers/docs/generators.test.ts runs two generators). */
describe('the document of the API, operation by operation', () => {
  const tags = contract.tags.map(({ name }) => name);

  it('gives each an id of its own in camelCase, webhooks included', () => {
    const webhooks = [...JSON.stringify(contract.webhooks).matchAll(/"operationId":"([^"]*)"/g)];
    const ids = [...operations.map(({ operation }) => operation.operationId), ...webhooks.map(([, id = '']) => id)];

    expect(webhooks).to.have.length(Object.keys(contract.webhooks).length);
    expect(new Set(ids)).to.have.property('size', ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id))).to.deep.equal([]);
  });

  it('gives each one tag, and no tag without a description or an operation', () => {
    const given = operations.map(({ operation }) => operation.tags);

    expect(given.filter((names) => names.length !== 1 || !tags.includes(names[0] ?? ''))).to.deep.equal([]);
    expect(new Set(given.flat())).to.deep.equal(new Set(tags));
    expect(contract.tags.filter(({ description }) => description === '')).to.deep.equal([]);
  });

  it('gives each that a key of an account may use a name in the clients, and no name twice; streams have none', () => {
    const isForKeys = (set: string) => set.split(' and ').every((one) => KEY_SCOPES.has(one));
    const forKeys = operations.filter(({ operation }) => operation['x-scope']?.split(', or ').some(isForKeys));
    const unnamed = forKeys.filter(({ operation }) => operation['x-call'] === undefined);
    const names = operations.flatMap(({ operation }) => operation['x-call'] ?? []);

    expect(unnamed.map(({ path }) => path)).to.deep.equal(['/v2/account/stream']);
    expect(names.filter((name) => !/^[a-z][A-Za-z]*\.[a-z][A-Za-z]*$/.test(name))).to.deep.equal([]);
    expect(new Set(names)).to.have.property('size', names.length);
    expect(names).to.have.length(forKeys.length - unnamed.length);
  });

  it('says of each schema what it is', () => {
    const { schemas } = contract.components;

    expect(Object.keys(schemas).filter((name) => !schemas[name]?.description)).to.deep.equal([]);
  });

  it('links what was made to where it is read, with what that path takes', () => {
    const links = operations.flatMap(({ operation }) => {
      const { '200': answer } = operation.responses;
      return answer !== undefined && 'links' in answer ? Object.values(answer.links ?? {}) : [];
    });
    const wanted = links.map(({ operationId }) => {
      const at = operations.find(({ operation }) => operation.operationId === operationId)?.path ?? '';
      return [...at.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    });

    expect(links.map(({ parameters }) => Object.keys(parameters))).to.deep.equal(wanted);
    expect(links.map(({ operationId }) => operationId)).to.include.members(['status', 'batch', 'scheduleState']);
  });

  for (const { method, path, operation } of operations) {
    it(`${method} ${path}: a summary, an example of each parameter that it needs, one shape of problem`, () => {
      const parameters = (operation.parameters ?? []).map((one) =>
        '$ref' in one ? contract.components.parameters[one.$ref.split('/').at(-1) ?? ''] : one,
      );
      const inPath = parameters.filter((one) => one?.in === 'path');

      expect(operation.summary).to.match(/^[A-Z].*[^.]$/);
      expect(inPath.map((one) => `{${one?.name}}`)).to.deep.equal(path.match(/\{\w+\}/g) ?? []);
      const needed = [...inPath, ...parameters.filter((one) => one?.in === 'query' && one.required === true)];
      expect(needed.filter((one) => typeof one?.example !== 'string')).to.deep.equal([]);
      expect(Object.keys(operation.responses).filter((status) => !/^([2345]\d\d|default)$/.test(status))).to.deep.equal(
        [],
      );
      const refused = Object.entries(operation.responses).filter(([status]) => !/^2|^304$/.test(status));
      expect(refused.filter(([, answer]) => !('$ref' in answer))).to.deep.equal([]);
    });
  }

  it('has no union but of named schemas: generators name a type after its schema', () => {
    const unions = schemasIn(JSON.parse(contractText)).filter(({ oneOf }) => oneOf !== undefined);
    const nameless = unions.filter(
      ({ oneOf = [], type }) =>
        type !== undefined ||
        oneOf.some((one) => one.$ref === undefined && one.type !== 'null' && Object.keys(one).join() !== 'required'),
    );

    expect(unions).not.to.be.empty;
    expect(nameless).to.deep.equal([]);
  });
});

/** All objects of the document that may be schemas, at any depth. */
function schemasIn(value: unknown): Schema[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(schemasIn);
  return Array.isArray(value) ? inside : [value as Schema, ...inside]; // all members of a schema are optional
}

describe('docs/constraints: what a schema demands, in words', () => {
  const rows: readonly [Schema, readonly string[]][] = [
    [{ type: 'string', enum: ['a', 'b'] }, ['one of <code>a</code>, <code>b</code>']],
    [{ const: true }, ['always <code>true</code>']],
    [{ default: 'normal' }, ['default <code>&quot;normal&quot;</code>']],
    [{ minimum: 1, maximum: 10_000 }, ['1 to 10,000']],
    [{ minimum: 0 }, ['at least 0']],
    [{ maximum: 2.5 }, ['at most 2.5']],
    [{ minLength: 1, maxLength: 255 }, ['1 to 255 characters']],
    [{ maxLength: 1 }, ['at most 1 character']],
    [{ type: 'array', minItems: 1 }, ['at least 1 entry']],
    [{ type: 'array', minItems: 2, maxItems: 2, uniqueItems: true }, ['exactly 2 entries', 'no entry twice']],
    [{ pattern: '^<b>$' }, ['pattern <code>^&lt;b&gt;$</code>']],
    [{ format: 'date-time', pattern: 'x' }, ['a time as ISO 8601 has it, with its offset from UTC']],
    [{ format: 'byte' }, ['format <code>byte</code>']],
  ];
  for (const [schema, phrases] of rows) {
    it(JSON.stringify(schema), () => {
      expect(constraintsOf(schema)).to.deep.equal(phrases);
    });
  }

  it('names types: of entries, of forms, and null', () => {
    expect(typeOf({ type: 'array', items: { type: ['string', 'null'] } })).to.equal('list of string or null');
    expect(typeOf({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }] })).to.equal(
      'string or list of integer',
    );
  });
});
