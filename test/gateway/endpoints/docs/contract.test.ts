import { createServer, type RequestListener } from 'node:http';
import request from 'supertest';
import { FIELD_CODES, PROBLEMS, type ProblemRule } from '../../../../gateway/http/problem.ts';
import { useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import {
  acceptedFault,
  answerFault,
  contract,
  contractText,
  FOR_BROWSERS,
  operations,
  pointer,
  schemaFault,
  watchAnswers,
} from '../../../support/openapi.ts';
import { makeOwnThings, pathOf } from '../../../support/own-things.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { useStore } from '../../../support/store.ts';

const DELIVERIES = '/v2/account/webhooks/{webhook_id}/deliveries';
const RULES: Readonly<Record<string, ProblemRule>> = PROBLEMS;

describe('the contract, /openapi.json', () => {
  const store = useStore();
  const gateway = useGateway(store);
  /** Users with all rights: an owner in an account, an operator below /v2/admin/. */
  let owner: Browser['headers'];
  let operator: Browser['headers'];
  let ids: Readonly<Record<string, string>>;
  const asking = (path: string) => (path.startsWith('/v2/admin/') ? operator : owner);
  before(async () => {
    const account = await makeAccount(store.db, 1);
    owner = (await signedIn(store.db, 'owner', account)).headers;
    operator = (await signedIn(store.db, 'operator')).headers;
    ids = (await makeOwnThings(store.db, account)).ids;
  });

  function ask(method: string, path: string): request.Test {
    const act = method === 'patch' ? 'patch' : method === 'put' ? 'put' : 'post';
    return request(gateway.url)[act](pathOf(path, ids)).set(asking(path));
  }

  it('has the operations of the route table, no more and no fewer', () => {
    const documented = operations.map(({ method, path }) => `${method} ${path}`);

    expect(documented.sort()).to.deep.equal(routesOf(gateway.app).sort());
  });

  it('knows the problems and field codes of the catalogue', () => {
    const { schemas } = contract.components;

    expect(schemas.Problem?.properties?.code?.enum).to.have.members(Object.keys(PROBLEMS));
    expect(schemas.FieldProblem?.properties?.code?.enum).to.have.members(Object.keys(FIELD_CODES));
  });

  it('says of every problem where it may be answered, and under which status; `default` stands for those of any operation', () => {
    const placed = new Set([...contract['x-problems'], ...operations.flatMap((one) => one.operation['x-problems'])]);
    expect([...placed]).to.have.members(Object.keys(PROBLEMS));

    for (const { path, operation } of operations) {
      const statuses = operation['x-problems'].map((slug) => String(RULES[slug]?.status));
      const takes = (header: string) => operation.parameters?.some((one) => 'name' in one && one.name === header);
      const others = [...(takes('Range') ? ['206'] : []), ...(takes('If-None-Match') ? ['304'] : [])];
      const all = [...new Set(['200', ...others, ...statuses, 'default'])];
      expect(Object.keys(operation.responses), path).to.have.members(all);
    }
  });

  it('names the scope of every operation that asks for a key', () => {
    for (const { path, operation } of operations) {
      expect(operation['x-scope'] !== undefined, path).to.equal(path.startsWith('/v2/'));
    }
  });

  it('has references that lead somewhere', () => {
    for (const [, ref = ''] of contractText.matchAll(/"\$ref": "#\/([^"]+)"/g)) {
      const found = ref.split('/').reduce<unknown>((at, name) => Reflect.get(Object(at), name), contract);
      expect(found, ref).to.be.an('object');
    }
  });

  describe('examples are what they show', () => {
    for (const { method, path, operation } of operations) {
      const bodies = { requestBody: operation.requestBody, 'responses 200': operation.responses['200'] };
      for (const [place, body] of Object.entries(bodies)) {
        if (body === undefined || '$ref' in body) continue;
        for (const [mediaType, { examples }] of Object.entries(body.content ?? {})) {
          for (const [name, { value }] of Object.entries(examples ?? {})) {
            it(`${method} ${path}: ${place}, ${name}`, () => {
              const at = pointer('paths', path, method, ...place.split(' '), 'content', mediaType, 'schema');

              expect(schemaFault(at, value)).to.equal(undefined);
            });
          }
          it(`${method} ${path}: ${place} has one`, () => {
            expect(Object.keys(examples ?? {}).length > 0 || !path.startsWith('/v2/')).to.equal(true);
          });
        }
      }
    }

    it('of a problem', () => {
      const examples = contract.components.responses.Problem?.content?.['application/problem+json']?.examples ?? {};

      expect(Object.keys(examples)).not.to.be.empty;
      for (const { value } of Object.values(examples)) {
        expect(schemaFault('#/components/schemas/Problem', value)).to.equal(undefined);
      }
    });
  });

  describe('names the fields that the endpoint knows', () => {
    for (const { method, path, operation } of operations) {
      if (operation.requestBody === undefined) continue;
      it(`${method} ${path}`, async () => {
        // A schedule has other fields when `to` is a list.
        const bodies = [{ zzzzzzzzzzzz: 1 }, { to: [], zzzzzzzzzzzz: 1 }];
        const asked = bodies.map((body) => ask(method, path).send(body));
        const known = new Set((await Promise.all(asked)).flatMap(knownFields));

        const shapes = Object.values(operation.requestBody?.content ?? {}).flatMap(
          ({ schema }) => schema.oneOf ?? [schema],
        );
        const names = shapes.flatMap(({ $ref = '' }) =>
          Object.keys(contract.components.schemas[$ref.split('/').at(-1) ?? '']?.properties ?? {}),
        );
        expect([...new Set(names)], 'run `npm run openapi`').to.have.members([...known]);
      });
    }

    for (const path of [
      '/v2/messages',
      '/v2/events',
      '/v2/ledger',
      '/v2/account/keys',
      '/v2/account/audit',
      DELIVERIES,
    ]) {
      it(`get ${path}`, async () => {
        const answer = await request(gateway.url)
          .get(`${pathOf(path, ids)}?zzzzzzzzzzzz=1`)
          .set(asking(path));

        const { parameters = [] } = operations.find((one) => one.path === path)?.operation ?? {};
        const names = parameters.map((one) => ('$ref' in one ? one.$ref.split('/').at(-1)?.toLowerCase() : one.name));
        expect(names.filter((name) => name !== 'webhook_id')).to.have.members(knownFields(answer));
      });
    }
  });

  describe('is what answers are held against: it finds', () => {
    const good = { balance: 1, currency: 'INR', expiry_date: '2027-06-30' };
    const answer = { method: 'GET', url: '/v2/balance', status: 200, contentType: 'application/json; charset=utf-8' };

    it('nothing in a good one', () => {
      expect(answerFault({ ...answer, text: JSON.stringify(good) })).to.equal(undefined);
    });

    const rows: readonly [string, object][] = [
      ['a member too many', { ...good, more: 1 }],
      ['a member that is missing', { ...good, currency: undefined }],
      ['another type', { ...good, balance: '1' }],
    ];
    for (const [what, body] of rows) {
      it(what, () => {
        expect(answerFault({ ...answer, text: JSON.stringify(body) })).to.be.a('string');
      });
    }

    it('it in whatever a watched app answers', async () => {
      const faults: string[] = [];
      const app: RequestListener = (_req, res) => {
        res.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', '2']);
        res.end('{}');
      };
      const server = createServer(watchAnswers(app, faults));

      const { status } = await request(server).get('/v2/balance?x=1');

      expect(status).to.equal(200);
      expect(faults).to.have.length(1);
      expect(faults[0]).to.include("GET /v2/balance 200: data must have required property 'balance'");
    });

    it('a body that was accepted and may not be sent', () => {
      const body = { to: '919876543210', message: 'x', sender: 'HARKRA' };
      const place = { method: 'POST', url: '/v2/send' };

      expect(acceptedFault(place, body)).to.equal(undefined);
      expect(acceptedFault(place, { ...body, to: '+919876543210' })).to.be.a('string');
      expect(acceptedFault(place, { ...body, typo: 1 })).to.be.a('string');
    });

    it('a problem that the operation does not document', () => {
      const text = JSON.stringify({
        type: '/errors/batch_not_found',
        title: 'Batch not found',
        status: 404,
        detail: 'x',
        code: 'batch_not_found',
        status_code: '4042',
        errors: [],
        request_id: 'req_1',
        retryable: false,
      });

      expect(answerFault({ ...answer, status: 404, text })).to.include('batch_not_found is not documented');
      expect(answerFault({ ...answer, url: '/v2/batches/x', status: 404, text })).to.equal(undefined);
    });
  });
});

/** Express's routes, such as `get /v2/status/{message_id}`. */
function routesOf(app: { readonly router: { readonly stack: readonly object[] } }): string[] {
  return app.router.stack.flatMap((layer) => {
    const route: unknown = Reflect.get(layer, 'route');
    if (typeof route !== 'object' || route === null) return [];
    const path = String(Reflect.get(route, 'path')).replaceAll(/:(\w+)/g, '{$1}');
    const methods = Object.keys(Object(Reflect.get(route, 'methods'))).filter((method) => method !== '_all');
    return FOR_BROWSERS.test(path) ? [] : methods.map((method) => `${method} ${path}`);
  });
}

/** An endpoint's fields: it lists them when it refuses an unknown one that resembles none. */
function knownFields({ body }: request.Response): string[] {
  const unknown = body.errors.find((problem: { field: string }) => problem.field === 'zzzzzzzzzzzz');
  const [, names = ''] = /The fields are (.+)\.$/.exec(unknown.detail) ?? [];
  return names === '' ? [] : names.split(', ');
}
