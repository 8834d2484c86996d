import type { Role } from '../../../shared/people/users/user.ts';
import { useGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { furnish, type Ids, oneOfEach } from '../../support/one-of-each.ts';
import { examplePath, operations } from '../../support/openapi.ts';
import { signedIn } from '../../support/signed-in.ts';
import { useStore } from '../../support/store.ts';

const OF_V2 = operations.filter(({ path }) => path.startsWith('/v2/'));
describe('what a request says beyond what the document names is refused, on every route', () => {
  const store = useStore();
  const gateway = useGateway(store);
  let ids: Ids;
  const browsers = new Map<Role, Readonly<Record<string, string>>>();
  before(async () => {
    const account = await makeAccount(store.db, 1_000);
    const { headers } = await signedIn(store.db, 'owner', account);
    await furnish(store.db, account);
    ids = await oneOfEach(gateway.url, { ...headers });
    browsers.set('owner', headers);
    browsers.set('operator', (await signedIn(store.db, 'operator', undefined)).headers);
  });

  for (const { method, path, operation } of OF_V2) {
    it(`${method} ${path}: a parameter of the query`, async () => {
      expect(await problemOf(method, path, `${filled(path, operation)}?zzzzzzzz=1`, '{}')).to.equal('zzzzzzzz');
    });
    if (method === 'post' || method === 'patch' || method === 'put') {
      it(`${method} ${path}: a field of the body`, async () => {
        const body = '{"zzzzzzzz":1}';
        expect(await problemOf(method, path, filled(path, operation), body)).to.equal('zzzzzzzz');
      });
    }
  }

  /** Uses existing ids, because some routes look for the thing first. */
  function filled(path: string, operation: (typeof OF_V2)[number]['operation']): string {
    const named = path.replaceAll(/\{(\w+)\}/g, (place, name) => [...(ids.get(name) ?? [])][0] ?? place);
    return examplePath(named, operation);
  }

  /** The name in the refusal. */
  async function problemOf(method: string, path: string, url: string, body: string): Promise<unknown> {
    const ended = new AbortController();
    const headers = browsers.get(path.startsWith('/v2/admin/') ? 'operator' : 'owner');
    const answer = await fetch(gateway.url + url, {
      method: method.toUpperCase(),
      headers: { ...headers, ...(method !== 'get' && { 'Content-Type': 'application/json' }) },
      ...(['post', 'put', 'patch'].includes(method) && { body }),
      signal: ended.signal,
    });
    const told: { readonly errors?: readonly { readonly field: string; readonly code: string }[] } =
      answer.status === 200 ? {} : Object(await answer.json());
    ended.abort(); // A stream does not end by itself.
    return (
      told.errors?.find(({ code }) => code === 'unknown_field')?.field ?? `${answer.status} ${JSON.stringify(told)}`
    );
  }
});
