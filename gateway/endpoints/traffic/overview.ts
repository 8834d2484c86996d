import type { Db } from 'mongodb';
import { z } from 'zod';
import { listConditions } from '../../../shared/carriers/carrier-condition.ts';
import { listOfPath } from '../../../shared/carriers/routing/route.ts';
import { LANES, readQueues, type WaitingLane } from '../../../shared/messages/queue/waiting-lanes.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { NOT_CLOSED } from '../../../shared/money/accounts/store.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { countWaiting } from '../../../shared/templates/sms/approval-queue.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { flag, named, text, time, whole } from '../../api/shapes.ts';
import { AccountIdText } from '../operators/fields.ts';
import { PresentConditions, presentRecords } from './conditions.ts';

/** The operators' first page: what is wrong now, and what waits. */

const OperatorQueue = named('OperatorQueue', 'Messages that wait for a route of sending.', {
  path: text(undefined, { example: 'transactional' }),
  carriers: z
    .array(text())
    .meta({ description: 'The carriers of a route, in their order. Null for a routing group.' })
    .nullable(),
  lane: z.enum(LANES).meta({ example: 'transactional' }),
  waiting: whole(undefined, { example: 120 }),
  more: flag('True: at least so many.'),
  accounts: whole(
    'Accounts that have some of these messages. 200 are looked at: then it is at least 200, and `oldest_at` is the oldest of theirs.',
    { example: 2 },
  ),
  oldest_at: time(undefined, '2026-11-22T14:02:11+00:00'),
  oldest_account_id: AccountIdText,
});

const OperatorOverview = named('OperatorOverview', {
  ...PresentConditions,
  carriers: z.strictObject({ all: whole(undefined, { example: 2 }), bound: whole(undefined, { example: 1 }) }),
  queues: z.array(OperatorQueue),
  approvals: z.strictObject({
    senders: whole(undefined, { example: 1 }),
    ctas: whole('Links, apps and callback numbers.'),
    templates: whole(undefined, { example: 3 }),
  }),
  accounts: z.strictObject({
    all: whole(undefined, { example: 12 }),
    held: whole('Suspended or paused.', { example: 1 }),
  }),
});

export const operatorOverview = endpoint({
  id: 'operatorOverview',
  method: 'get',
  path: '/v2/admin/overview',
  tag: 'Operators',
  summary: 'What is wrong now',
  description: 'Extension. In words, the worst first; then binds, queues, and what waits for a decision.',
  scopes: ['admin:read'],
  answer: OperatorOverview,
  handle: ({ db, clock }) => readOverview(db, clock),
});

/** Higher counts are shown as "at least". */
const COUNTED_MAX = 1_000;

/** No current time and no ages: the stream sends it whenever its JSON changes (endpoints/live/live.ts). */
export async function readOverview(db: Db, clock: Clock): Promise<Shown<typeof OperatorOverview>> {
  const [present, carriers, queues, senders, ctas, templates, accounts, tests, held] = await Promise.all([
    presentRecords(db, clock),
    listConditions(db, clock.now()),
    readQueues(db),
    countWaiting(db, 'senders', COUNTED_MAX),
    countWaiting(db, 'ctas', COUNTED_MAX),
    countWaiting(db, 'templates', COUNTED_MAX),
    db.collection<AccountDocument>('accounts').estimatedDocumentCount(),
    db.collection<AccountDocument>('accounts').countDocuments({ test: true }),
    db.collection<AccountDocument>('accounts').countDocuments({ held: true, ...NOT_CLOSED }, { limit: COUNTED_MAX }),
  ]);
  return {
    ...present,
    carriers: {
      all: carriers.length,
      bound: carriers.filter(({ condition }) => condition === 'bound').length,
    },
    queues: queues.map(queueRecord),
    approvals: { senders, ctas, templates },
    accounts: { all: accounts - tests, held },
  };
}

export const operatorQueues = endpoint({
  id: 'operatorQueues',
  method: 'get',
  path: '/v2/admin/queues',
  tag: 'Operators',
  summary: 'Queues by lane',
  description: 'Extension. What waits to leave, by path and lane, with the oldest waiting.',
  scopes: ['admin:read'],
  answer: named('OperatorQueues', { queues: z.array(OperatorQueue) }),
  async handle({ db }) {
    return { queues: (await readQueues(db)).map(queueRecord) };
  },
});

/** `carriers`: null for a routing group, and for the chat-app channel. */
function queueRecord({ path, oldest, ...rest }: WaitingLane): Shown<typeof OperatorQueue> {
  return {
    path,
    carriers: listOfPath(path)?.carriers ?? null,
    ...rest,
    oldest_at: isoTimestamp(oldest.at),
    oldest_account_id: oldest.account,
  };
}
