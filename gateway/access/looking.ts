import type { Db } from 'mongodb';
import { findAccount } from '../../shared/money/accounts/store.ts';
import { noteEntry } from '../../shared/people/audit.ts';
import { isOperatorScope } from '../../shared/people/keys/key.ts';
import { type AccountId, isAccountId, minuteAuditId } from '../../shared/platform/runtime/ids.ts';
import { maskNumber } from '../../shared/platform/runtime/log.ts';
import { sendProblem } from '../http/answer.ts';
import { actorOf } from '../http/audited.ts';
import { type Handler, type Reply, type Requester, requesterOf } from '../http/context.ts';
import type { GatewayDeps } from '../http/deps.ts';
import type { ReadAccount } from './account.ts';

/**
 * Operators who name an account in this header use its own endpoints (docs/decisions/0043). They may do what `read`
 * allows, and what an endpoint's scopes name for operators (`admin:look`, `admin:support`). The audit records it.
 */
const ACCOUNT_HEADER = 'harkara-account';

/** Repeated looks at the same thing within this time are recorded once: pages reload by themselves. */
const RECORDED_MS = 600_000;
const REMEMBERED_MAX = 10_000;

/**
 * Comes before the scopes. From here on an operator who names an account acts in it. For streams and files a browser
 * names it in the query (`account`) instead. Closed accounts can be looked at too.
 */
export function createLookAs(readAccount: ReadAccount, db: Db): Handler {
  return async (req, res: Reply, next) => {
    const requester = requesterOf(res);
    const id = req.headers[ACCOUNT_HEADER] ?? inQuery(req.url);
    // Keys and users of an account have their account already.
    if (id === undefined || !requester.scopes.includes('admin:look')) return next();
    const account =
      typeof id === 'string' && isAccountId(id)
        ? ((await readAccount(id)) ?? (req.method === 'GET' ? await findAccount(db, id) : undefined))
        : undefined;
    if (account === undefined) return sendProblem(res, 'account_not_found');
    res.locals.caller = { ...requester, account, scopes: ['read', ...requester.scopes] };
    next();
  };
}

/** Endpoints without this parameter refuse it later as unknown. */
function inQuery(url: string): string | undefined {
  const start = url.indexOf('?');
  return start === -1 ? undefined : (new URLSearchParams(url.slice(start)).get('account') ?? undefined);
}

export function isLooking({ account, scopes }: Pick<Requester, 'account' | 'scopes'>): boolean {
  return account !== undefined && scopes.includes('admin:look');
}

interface LookedAt {
  readonly method: string;
  readonly path: string;
  readonly ownOnly?: true;
  readonly scopes?: readonly (string | readonly string[])[];
}

/** Comes after the scopes, at endpoints of accounts. Records an operator's look before anything is shown. */
export function lookAudit(one: LookedAt, record: RecordLook): Handler {
  return async (req, res: Reply, next) => {
    const requester = requesterOf(res);
    const { account } = requester;
    if (account === undefined) return sendProblem(res, 'account_not_named');
    if (!isLooking(requester)) return next();
    // Operators may change nothing unless the endpoint's scopes name them: `read` alone does not suffice.
    const isNamed = one.scopes?.flat().some(isOperatorScope) === true;
    if (one.ownOnly || (one.method !== 'get' && !isNamed)) return sendProblem(res, 'account_only');
    const [kind, id] = thingOf(req.params) ?? ['account', account._id];
    const verb = one.method === 'get' ? 'look' : (one.path.split('/').at(-1) ?? one.method);
    await record(requester, { action: `${kind}.${verb}`, subject: { kind, id }, account: account._id });
    next();
  };
}

interface Look {
  readonly action: string;
  readonly subject: { readonly kind: string; readonly id: string };
  readonly account?: AccountId;
}

/** Rejects when the store cannot write the entry; then nothing is shown. */
type RecordLook = (requester: Requester, look: Look) => Promise<void>;

/** One per process: it remembers what was recorded. */
export function createRecordLook({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): RecordLook {
  const recorded = new Map<string, number>();
  return async (requester, look) => {
    const now = clock.now();
    const { action, subject, account = '' } = look;
    const what = `${requester.who.id} ${action} ${account} ${subject.kind}:${subject.id}`;
    if (now.getTime() - (recorded.get(what) ?? 0) < RECORDED_MS) return;
    const entry = { actor: actorOf(requester), ...look };
    await noteEntry(db, minuteAuditId(what, now), entry, { now, keptDays: config.auditDays });
    if (recorded.size >= REMEMBERED_MAX) recorded.clear();
    recorded.set(what, now.getTime());
  };
}

/** The first thing that a path names: `{message_id}` of `/v2/messages/{message_id}`. Customers' numbers are masked. */
function thingOf(params: Readonly<Record<string, unknown>>): readonly [kind: string, id: string] | undefined {
  const [first] = Object.entries(params);
  if (first === undefined) return undefined;
  const [name, id] = first;
  if (name === 'customer') return ['customer', maskNumber(String(id))];
  return [name === 'month' ? 'statement' : name.replace(/_id$/, ''), String(id).slice(0, 200)];
}
