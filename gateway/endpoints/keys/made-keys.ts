import { z } from 'zod';
import type { KeyDocument, KeyScope } from '../../../shared/people/keys/key.ts';
import { KEY_STATES } from '../../../shared/people/keys/store.ts';
import { isExpired } from '../../../shared/people/keys/view.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import type { Shown } from '../../api/endpoint.ts';
import { named, text } from '../../api/shapes.ts';
import type { Requester } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { choice, optional } from '../../http/fields/field.ts';
import type { Problem } from '../../http/idempotency/action.ts';
import { keysOfUser } from './descendants.ts';
import { revokeAudited } from './key-changes.ts';

/** The keys that a key or a user made, and what becomes of them. */

export const KEY_FATES = ['keep', 'revoke'] as const;
type KeyFate = (typeof KEY_FATES)[number];

export const MadeKey = named('MadeKey', 'A key that another key, or a user, made.', {
  key_id: text('Public part of the key; no secret.', {
    pattern: '^[0-9a-z]{26}$',
    example: '01m7zsz3m0hdb5pft3awkb6pgw',
  }),
  name: text('For people, to tell keys apart.', { example: 'till 3' }),
  state: z.enum(KEY_STATES).meta({ description: '`expired`: its time is over. `revoked`: for good.' }),
});

/** What is shown of a key beside the one, or the user, that made it. */
export function madeRecord(key: KeyDocument, now: Date): Shown<typeof MadeKey> {
  return { key_id: key._id, name: key.name, state: isExpired(key, now) ? 'expired' : key.status };
}
type Deps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/** The field of requests after which a user may not make such keys any more. */
export const keysOfTheUser = optional(
  choice(
    KEY_FATES,
    'What becomes of the keys that the user made, and of those that these made. Needed when there are any.',
  ),
);

/** Keys that outlive their maker's right to make them, and what shall become of them. */
export interface LeftKeys {
  readonly user: UserDocument;
  /** What the user may give to a key afterwards: nothing, when the user is disabled or gone. */
  readonly keeps: readonly string[];
  readonly fate: KeyFate | undefined;
}

/** The question, when there are such keys and nobody has said what becomes of them. Asked before the user is changed. */
export async function askAboutKeys(deps: Deps, left: LeftKeys): Promise<Problem | undefined> {
  if (left.fate !== undefined) return undefined;
  const found = await leftKeys(deps, left);
  if (found.length === 0) return undefined;
  const named = found.map(({ _id, name }) => `${_id} (${name})`).join(', ');
  const detail = `${left.user.username} made keys that work: ${named}. Say with \`keys\` what becomes of them: \`revoke\`, or \`keep\`.`;
  return ['user_has_keys', { detail }];
}

/** After the change of the user: revokes the keys, if that is their fate. What the answer says of them, if there are any. */
export async function settleKeys(deps: Deps, requester: Requester, left: LeftKeys): Promise<object> {
  const find = () => leftKeys(deps, left);
  const found = left.fate === 'revoke' ? await revokeAudited(deps, requester, find) : await find();
  const now = deps.clock.now();
  return found.length === 0 ? {} : { keys: found.map((key) => madeRecord(key, now)) };
}

async function leftKeys({ db, clock }: Deps, { user, keeps }: LeftKeys): Promise<readonly KeyDocument[]> {
  const { _id, account } = user;
  if (account === undefined) return [];
  const made = await keysOfUser(db, { account, user: _id }, clock.now());
  const may = (scope: KeyScope) => keeps.includes(scope);
  return made.filter(({ scopes }) => !(keeps.includes('manage') && scopes.every(may)));
}
