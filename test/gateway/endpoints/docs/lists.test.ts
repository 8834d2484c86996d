import type { Operation } from '../../../../gateway/api/contract.ts';
import type { Schema } from '../../../../gateway/http/fields/field.ts';
import { contract } from '../../../support/openapi.ts';

const { paths, components } = contract;

/** Lists without pages, with what bounds them. */
const WHOLE: Readonly<Record<string, string>> = {
  '/v2/account/webhooks': 'an account has ten',
  '/v2/account/untagged-templates': 'the first 500',
  '/v2/account/untagged-templates/{template_id}': 'the slots of one template, and ten examples',
  '/v2/account/prices': 'operators write them: 300',
  '/v2/admin/accounts/{account_id}/prices': 'operators write them: 300',
  '/v2/account/statements/{month}': 'one month, with the first 500 of its top-ups and kinds of traffic',
  '/v2/admin/accounts/{account_id}/statements/{month}': 'the same',
  '/v2/account/exports': 'an account has three',
  '/v2/account/overview': 'what is wrong with the account now, at most some tens',
  '/v2/account/limits': 'the prefixes that are held, at most some tens',
  '/v2/admin/accounts/{account_id}/limits': 'the prefixes that are held, at most some tens',
  '/v2/admin/status': 'what is wrong now, cut at a hundred',
  '/readyz': 'what is wrong now, cut at a hundred',
  '/v2/account/statistics': 'a period has some carriers, and the ten most frequent codes',
  '/v2/messages/{message_id}': 'the timeline of one message',
  '/v2/admin/messages/{message_id}': 'the timeline of one message',
  '/v2/account/webhooks/{webhook_id}/deliveries/{event_id}': 'the tries of one delivery',
  '/v2/account/users/{user_id}': 'the keys that one user made: an account has 50',
  '/v2/account/keys/{key_id}': 'the keys that one key made: an account has 50',
  '/v2/profile/sessions': 'one user has some sessions',
  '/v2/status/{message_id}': 'the parts of one message',
  '/v2/account/verification-rates': 'the 50 prefixes with the most codes',
  '/v2/admin/overview': 'what is wrong now, at most 200 conditions',
  '/v2/admin/charts': 'carriers, which operators make, and six networks',
  '/v2/admin/queues': 'paths and lanes, which operators make',
  '/v2/account/webhook-events': 'events, which are written in code',
  '/v2/profile/notices': 'kinds of notices, which are written in code',
  '/v2/chatapp/numbers': 'an account has 50 at most',
  '/v2/admin/carriers': 'operators make them: an installation has tens',
  '/v2/admin/carriers/{carrier_id}': 'one carrier',
  '/v2/admin/providers/{number}': 'one number, with a trouble of each duty, and 200 volume tiers',
  '/v2/admin/accounts/{account_id}/provider-prices': 'operators write them: 2,000',
  '/v2/admin/carrier-form': 'settings and presets, which are written in code',
  '/v2/admin/accounts/{account_id}/chains': 'one for each carrier at most: an installation has tens',
  '/v2/admin/routes': 'operators make them: an installation has tens',
  '/v2/admin/routes/explain': 'the carriers of one message',
  '/v2/account/webhooks/{webhook_id}': 'one webhook, with ten headers at most',
  '/v2/admin/accounts/{account_id}': 'one account, with the first 500 of its senders',
};

function resolved({ $ref, ...schema }: Schema): Schema {
  return $ref === undefined ? schema : (components.schemas[$ref.split('/').at(-1) ?? ''] ?? {});
}

/** Whether an answer has a list that may grow. Lists of words, such as a key's scopes, do not count. */
function hasList(schema: Schema): boolean {
  return Object.values(resolved(schema).properties ?? {}).some((property) => {
    const { type, items } = resolved(property);
    return type === 'array' && items !== undefined && resolved(items).type === 'object';
  });
}

function namesOf({ parameters = [] }: Operation): readonly string[] {
  return parameters.map((one) =>
    '$ref' in one ? (components.parameters[one.$ref.split('/').at(-1) ?? '']?.name ?? '') : one.name,
  );
}

describe('lists in the document of the API', () => {
  const lists = Object.entries(paths).flatMap(([path, { get }]) => {
    const answer = get?.responses['200'];
    const schema = answer && 'content' in answer ? answer.content?.['application/json']?.schema : undefined;
    return get !== undefined && schema !== undefined && hasList(schema)
      ? [{ path, get, schema: resolved(schema) }]
      : [];
  });

  for (const { path, get, schema } of lists.filter((list) => WHOLE[list.path] === undefined)) {
    it(`GET ${path} is read page by page`, () => {
      expect(namesOf(get)).to.include.members(['limit', 'cursor']);
      expect(Object.keys(schema.properties ?? {})).to.include.members(['next_cursor', 'has_more']);
    });
  }

  it('what is answered whole is still there, and has a list', () => {
    const whole = lists.map(({ path }) => path);
    expect(Object.keys(WHOLE).filter((path) => !whole.includes(path))).to.deep.equal([]);
  });
});
