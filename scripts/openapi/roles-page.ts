import { ROLE_PERMISSIONS } from '../../gateway/access/scopes.ts';
import type { Contract } from '../../gateway/api/contract.ts';
import type { Schema } from '../../gateway/http/fields/field.ts';

const HEAD = `# Who may do what

Made by \`npm run openapi\` from the declarations of the endpoints; do not edit. A test asks every route as every role
(\`test/gateway/access/roles-walk.test.ts\`), another for every id of another account (\`strangers.test.ts\`).

A role gives the scopes that an API key would need. \`owner\` is given to no key. A caller acts in its own account only: ids of another are answered like
unknown ones. Operators have no account. Where the last but one column says
*password*, a user must have shown it within the last 10 minutes, at sign-in or by \`POST /v2/session/confirm\`; keys are not asked. The last column names what a request may set; every other field is refused.

With the header \`Harkara-Account\`, a role with \`admin:look\` also uses what \`read\` allows in the account that it names (docs/decisions/0043), but
\`GET /v2/events\` and \`GET /v2/chatapp/media/{message_id}\`; what it looks at is recorded.

An operator is let in, kept out or signed out only by who has all scopes of that operator.

`;

const ROLES = Object.entries(ROLE_PERMISSIONS);

/** docs/roles.md: each route with the roles that may use it. */
export function rolesPage(contract: Contract): string {
  const given = ROLES.map(([role, permissions]) => [role, permissions.map((one) => `\`${one}\``).join(', ')]);
  const rows = Object.entries(contract.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const scope = operation['x-scope'] ?? 'none';
      const fields = Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema }) =>
        fieldsOf(contract, schema),
      );
      const may = ROLES.map(([, permissions]) => (mayUse(permissions, scope) ? 'yes' : ''));
      return [
        `\`${method.toUpperCase()} ${path}\``,
        scope,
        ...may,
        operation['x-confirmed'] ? 'password' : '',
        [...new Set(fields)].map((field) => withScope(field, operation['x-field-scopes'])).join(', '),
      ];
    }),
  );
  const routes = markdown(['route', 'scope', ...ROLES.map(([role]) => role), 'shown again', 'sets'], rows);
  return `${HEAD}${markdown(['role', 'scopes'], given)}\n${routes}`;
}

/**
 * Whether a role's permissions are enough for a route. A scope such as `send and read, or manage` needs one of its
 * sets; `none: …` needs no permission (the words say what the caller needs instead).
 */
function mayUse(permissions: readonly string[], scope: string): boolean {
  if (scope.startsWith('none')) return true;
  return scope.split(', or ').some((set) => set.split(' and ').every((one) => permissions.includes(one)));
}

function withScope(field: string, scopes: Readonly<Record<string, string>> = {}): string {
  return scopes[field] === undefined ? field : `${field} (${scopes[field]} too)`;
}

function fieldsOf(contract: Contract, { $ref, oneOf, properties }: Schema): string[] {
  const named = contract.components.schemas[$ref?.split('/').at(-1) ?? ''];
  if (named !== undefined) return fieldsOf(contract, named);
  return [...Object.keys(properties ?? {}), ...(oneOf ?? []).flatMap((one) => fieldsOf(contract, one))];
}

/** Unaligned columns, so that a new route changes only one line. */
function markdown(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('');
}
