import { ROLE_PERMISSIONS } from '../../../gateway/access/scopes.ts';
import { isOperatorRole, type Role } from '../../../shared/people/users/user.ts';
import { useGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { examplePath, operations } from '../../support/openapi.ts';
import { signedIn } from '../../support/signed-in.ts';
import { useStore } from '../../support/store.ts';

/** Every operation as every role: its `x-scope` decides, not the buttons that the dashboard hides. */
describe('8.2.1 (ASVS): every route asks for the permission that the document names', () => {
  const store = useStore();
  const gateway = useGateway(store);

  for (const role of Object.keys(ROLE_PERMISSIONS) as Role[]) {
    it(role, async () => {
      const account = isOperatorRole(role) ? undefined : await makeAccount(store.db, 1);
      const { headers } = await signedIn(store.db, role, account);
      const wrong: string[] = [];

      for (const { method, path, operation } of operations) {
        const scope = operation['x-scope'];
        if (scope === undefined || scope.startsWith('none: ')) continue;
        const refused = await isRefused(method, examplePath(path, operation), headers);
        if (refused === mayUse(role, scope))
          wrong.push(`${method} ${path} (${scope}): ${refused ? '' : 'not '}refused`);
      }

      expect(wrong).to.deep.equal([]);
    });
  }

  /** Whether the role is refused. The body is invalid for every endpoint, so nothing is done. */
  async function isRefused(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
    const ended = new AbortController();
    const answer = await fetch(gateway.url + path, {
      method: method.toUpperCase(),
      headers: { ...headers, ...(method !== 'get' && { 'Content-Type': 'application/json' }) },
      ...(['post', 'put', 'patch'].includes(method) && { body: '{"zzzzzzzzzzzz":1}' }),
      signal: ended.signal,
    });
    const code = answer.status === 403 ? Reflect.get(Object(await answer.json()), 'code') : undefined;
    ended.abort(); // A stream does not end by itself.
    return code === 'scope_missing';
  }
});

/** `scope` lists alternatives, such as `send and read, or manage`: the role needs all permissions of one. */
function mayUse(role: Role, scope: string): boolean {
  const has: readonly string[] = ROLE_PERMISSIONS[role];
  return scope.split(', or ').some((set) => set.split(' and ').every((one) => has.includes(one)));
}
