import type { Request } from 'express';
import { auditedUser } from '../../../shared/people/users/audited-user.ts';
import { findUser, listUsers } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { type AccountId, isUserId, type UserId } from '../../../shared/platform/runtime/ids.ts';
import type { ReadingDeps } from '../../access/costly-reads.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { changeAudited } from '../../http/audited.ts';
import { callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { FieldProblems, invalidRequest } from '../../http/field-problems.ts';
import { pageOf, parseCursor, parseLimit } from '../../http/page.ts';
import { parseQuery } from '../../http/query.ts';
import { LastOwner } from './last-owner.ts';
import { userRecord } from './record.ts';

export type UsersDeps = Pick<GatewayDeps, 'db' | 'clock' | 'config'>;

/** This many entries of a page count as one request. */
const ENTRIES_PER_REQUEST = 100;

/** GET /v2/account/users (extension): who may sign in, newest first. */
export function createUsers(deps: ReadingDeps): Handler {
  return async (req, res: Reply) => {
    const problems = new FieldProblems();
    const page = parseUsersPage(parseQuery(req, ['limit', 'cursor'], problems), problems);
    if (problems.count > 0) return sendProblem(res, ...invalidRequest(problems));
    await answerUsers(deps, res, callerOf(res).account._id, page, userRecord);
  };
}

interface UsersPage {
  readonly limit: number;
  readonly after: UserId | undefined;
}

export function parseUsersPage(
  { limit, cursor }: { readonly limit?: string; readonly cursor?: string },
  problems: FieldProblems,
): UsersPage {
  return { limit: parseLimit(limit, problems), after: parseCursor(cursor, 'users', isUserId, problems) };
}

/** Answers with a page of an account's users, or of the operators. */
export async function answerUsers(
  { db, answerRead }: ReadingDeps,
  res: Reply,
  account: AccountId | undefined,
  { limit, after }: UsersPage,
  record: (user: UserDocument) => object,
): Promise<void> {
  await answerRead(res, Math.ceil(limit / ENTRIES_PER_REQUEST), async () => {
    const found = await listUsers(db, account, { after, limit: limit + 1 });
    const shown = found.slice(0, limit);
    return pageOf('users', shown.map(record), found.length > limit ? shown.at(-1)?._id : undefined);
  });
}

/** GET /v2/account/users/{user_id} (extension). */
export function createUser({ db }: UsersDeps): Handler {
  return async (req, res: Reply) => {
    const user = await userOf(db, req, res);
    if (user !== undefined) sendJson(res, userRecord(user));
  };
}

/** The user that the path names, if the caller's account has it; otherwise the answer is sent. */
export async function userOf(db: UsersDeps['db'], req: Request, res: Reply): Promise<UserDocument | undefined> {
  const { user_id: id } = req.params;
  const user = typeof id === 'string' && isUserId(id) ? await findUser(db, id) : undefined;
  if (user !== undefined && user.account === callerOf(res).account._id) return user;
  sendProblem(res, 'user_not_found');
  return undefined;
}

interface UserChange {
  readonly action: string;
  readonly user: UserDocument;
  /** As for `changeAudited`. */
  readonly apart?: string;
  /** The state after the change for the audit. Undefined if nothing was changed. Default: the user that `make` returns. */
  madeOf?(made: UserDocument | undefined): object | undefined;
}

/** Makes a change of a user and records it in the audit. Resolves as `make` does. */
export function changeOf(
  deps: UsersDeps,
  res: Reply,
  { action, user, apart = '', madeOf = auditedUser }: UserChange,
  make: () => Promise<UserDocument | undefined>,
): Promise<UserDocument | undefined> {
  return changeAudited(deps, callerOf(res), {
    action,
    apart,
    subject: { kind: 'user', id: user.username },
    read: async () => auditedUser(await findUser(deps.db, user._id)),
    make,
    madeOf,
    isRefusal: (error) => error instanceof LastOwner,
  });
}
