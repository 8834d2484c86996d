import { callRow, callWith, goodBody, goodPath } from '../requests.ts';
import { expectProblem, expectRecord, namedFields } from '../shape.ts';
import type { EndpointRow, Scope } from '../tables/endpoint.ts';
import { CHATAPP_ENDPOINTS } from '../tables/endpoints-chatapp.ts';
import { EXTENSIONS, SMS_ENDPOINTS } from '../tables/endpoints-sms.ts';
import { type Field, REQUESTS, RESULTS } from '../tables/fields.ts';
import type { World } from '../world.ts';

const ROWS: readonly EndpointRow[] = [...SMS_ENDPOINTS, ...CHATAPP_ENDPOINTS];
const SCOPES: readonly Scope[] = ['send', 'read', 'manage'];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Every row of both "Endpoints" tables: path, method, answer, fields, and the refusal of anything else. */
export function walkEndpoints(world: () => World): void {
  for (const row of ROWS) {
    describe(`${row.method} ${row.path}`, () => {
      walkAnswer(row, world);
      if (row.path.includes('{')) walkIds(row, world);
      if (row.request !== 'none') walkFields(row, REQUESTS[row.request], world);
    });
  }
}

function walkAnswer(row: EndpointRow, world: () => World): void {
  it(`answers 200 with exactly the members of "${row.response}"`, async () => {
    const answer = await callRow(row, world(), world().key);

    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('content-type')).to.match(/^application\/json(;|$)/);
    expectRecord(answer.body, RESULTS[row.response], row.extras);
    for (const name of ['ratelimit', 'ratelimit-policy']) expect(answer.headers.get(name), name).not.to.equal(null);
  });

  it('answers 401 without a key and with a wrong one', async () => {
    for (const key of [undefined, 'hk_live_nobody_nothing']) {
      const answer = await callRow(row, world(), key);

      expectProblem(answer, 401);
      expect(answer.headers.get('www-authenticate')).to.match(/^Bearer/);
      expect(answer.headers.get('ratelimit'), 'of nobody').to.equal(null);
    }
  });

  it(`answers 403 to a key without the scope ${row.scopes.map((set) => set.join(' and ')).join(', or ')}`, async () => {
    for (const scope of SCOPES.filter((one) => !row.scopes.some((set) => set.length === 1 && set.includes(one)))) {
      expectProblem(await callRow(row, world(), await world().keyWith([scope])), 403, 'scope_missing');
    }
  });

  if (row.charged) {
    it('answers 403 to an account without credits', async () => {
      expectProblem(await callRow(row, world(), world().poorKey), 403, 'insufficient_credits');
    });
  }

  it('answers 405 with Allow to every other method', async () => {
    const path = await goodPath(row, world());
    const known = [...ROWS, ...EXTENSIONS].filter((one) => one.path === row.path).map(({ method }) => method);

    for (const method of METHODS.filter((one) => !known.includes(one))) {
      const answer = await world().client.call({ method, path, key: world().key });

      expectProblem(answer, 405, 'method_not_allowed');
      const allowed = (answer.headers.get('allow') ?? '').split(', ').filter((one) => one !== 'HEAD');
      expect(allowed, `Allow to ${method}`).to.have.members(known);
    }
  });

  it('is below /v2 only', async () => {
    const path = await goodPath(row, world());

    for (const other of [path.slice('/v2'.length), path.replace('/v2/', '/v1/')]) {
      const { method } = row;
      expectProblem(await world().client.call({ method, path: other, key: world().key }), 404, 'not_found');
    }
  });
}

function walkIds(row: EndpointRow, world: () => World): void {
  const ask = (path: string, key: string) => world().client.call({ method: row.method, path, key });

  it('answers 404 to an id that is of no shape, of nobody, or of another account', async () => {
    const path = await goodPath(row, world());
    const nobody = path.slice(0, -6) + (path.endsWith('000000') ? '111111' : '000000');

    for (const unknown of [row.path.replace(/\{.*\}/, 'x'), nobody])
      expectProblem(await ask(unknown, world().key), 404);
    expectProblem(await ask(path, world().otherKey), 404);

    expect((await ask(path, world().key)).status, 'its owner’s').to.equal(200);
  });
}

function walkFields(row: EndpointRow, fields: readonly Field[], world: () => World): void {
  const ask = (body: unknown) => callWith(world().client, row, world().key, body);
  const good = () => goodBody(row, world().customer);

  it('the fields are the table’s', () => {
    expect(Object.keys(good())).to.deep.equal(fields.map(({ name }) => name));
  });

  for (const field of fields) {
    const { name, optional } = field;
    it(`${name}: ${optional ? 'may be left out' : 'answers 400 that names it when it is missing'}`, async () => {
      const { [name]: _, ...rest } = good();

      const answer = await ask(rest);

      if (optional) expect(answer.status, answer.text).to.equal(200);
      else {
        expectProblem(answer, 400, 'invalid_request');
        expect(namedFields(answer)).to.deep.equal([name]);
      }
    });

    it(`${name}: answers 400 that names it when it is no ${field.type}`, async () => {
      for (const value of wrongValues(field)) {
        const answer = await ask({ ...good(), [name]: value });

        expectProblem(answer, 400);
        const named = namedFields(answer);
        expect(named, `${JSON.stringify(value)}: ${answer.text}`).not.empty;
        for (const one of named) expect(one).to.match(new RegExp(`^${name}($|\\[)`));
      }
    });

    if (field.type === 'array') {
      it(`${name}: answers 400 that names each entry that is wrong, by its index`, async () => {
        const entries = Object.values(Object(good()[name]));
        const records = Array.isArray(field.of);
        const wrong = records ? { id: 'maybe' } : 7;

        const answer = await ask({ ...good(), [name]: [wrong, ...entries, wrong] });

        expectProblem(answer, 400, 'invalid_request');
        const named = [0, entries.length + 1].map((index) => `${name}[${index}]${records ? '.title' : ''}`);
        expect(namedFields(answer)).to.include.members(named);
      });
    }
  }

  it('answers 400 that names all that is wrong at once', async () => {
    const required = fields.filter(({ optional, dependent }) => !(optional ?? dependent)).map(({ name }) => name);

    const answer = await ask({ nobodys_field: 1 });

    expectProblem(answer, 400, 'invalid_request');
    expect(namedFields(answer)).to.have.members([...required, 'nobodys_field']);
  });

  it('answers 415 to another Content-Type, 400 to what is no JSON object', async () => {
    const { client, key } = world();
    const { method, path } = row;

    for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await client.call({ method, path, key, body: good(), headers: { 'content-type': type } });
      expectProblem(answer, 415, 'unsupported_media_type');
    }
    for (const body of ['', '{"to":', '[]', '"text"', 'null']) {
      expectProblem(await client.call({ method, path, key, body }), 400, 'malformed_body');
    }
  });
}

function wrongValues({ type, values, of }: Field): readonly unknown[] {
  const noString = [null, 7, true, [], {}, { $gt: '' }, '', '\ud800'];
  switch (type) {
    case 'phone':
      return [...noString, 919876500921, '+919876500921', '0919876500', '1234567', '1234567890123456', '98765 43210'];
    case 'url':
      return [...noString, 'nowhere', 'ftp://127.0.0.1/file.jpg'];
    case 'timestamp':
      return [...noString, 'tomorrow', '2030-01-31', '2030-01-31T18:00:00', '2020-01-31T18:00:00+05:30'];
    case 'array':
      return [null, 7, 'text', {}, ...(of === 'string' ? [[7], [null]] : [[], [7], [null], ['']])];
    default:
      return values === undefined ? noString : [...noString, 'carrier-pigeon'];
  }
}
