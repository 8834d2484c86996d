import type { Db } from 'mongodb';
import { listNewestReplays } from '../../../shared/events/webhooks/replay-store.ts';
import { HOUR_MS } from '../../../shared/messages/statistics-hour.ts';
import { readHours } from '../../../shared/messages/statistics-store.ts';
import { readBalance } from '../../../shared/money/accounts/store.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, liveAccountOf } from '../../../shared/platform/runtime/ids.ts';
import { readCarriers } from '../carriers/carriers.ts';
import { countChatTemplates } from '../chat-templates/templates.ts';
import { readLedgerChecks } from '../ledger-checks/ledger-checks.ts';
import { listMessages } from '../messages/message-list.ts';
import { messageRecord } from '../messages/messages.ts';
import { balanceRecord } from '../sms/account.ts';
import { readOverview } from '../traffic/overview.ts';
import { replayRecord } from '../webhooks/replays.ts';

/** As many as a page shows without scrolling. */
const NEWEST = 20;

/** What `GET /v2/account/stream` can tell. A new kind of event is an entry here, and its sentence in endpoints/live/streams.ts. */
export const ACCOUNT_SOURCES: readonly AccountSource[] = [
  {
    name: 'balance',
    read: async ({ db }, account) => balanceRecord(await readBalance(db, account)),
  },
  {
    name: 'messages',
    read: async ({ db }, account) => {
      const { messages } = await listMessages(db, account, {}, undefined, NEWEST);
      return { data: messages.map((message) => messageRecord(message)) };
    },
  },
  {
    // What the running hour and the one before have by now: the page of statistics reads them again when this changes.
    name: 'statistics',
    read: async ({ db, clock }, account) => {
      const hours = await readHours(db, account, new Date(clock.now().getTime() - HOUR_MS));
      return {
        hours: hours.map(({ _id, states, credits }) => ({ at: _id.slice(account.length + 1), states, credits })),
      };
    },
  },
  {
    name: 'inbox',
    read: async ({ db }, account) => {
      const { messages } = await listMessages(db, account, { direction: 'in' }, undefined, 1);
      return { message_id: messages[0]?._id ?? null };
    },
  },
  {
    name: 'replays',
    read: async ({ db }, account) => ({
      data: (await listNewestReplays(db, liveAccountOf(account), NEWEST)).map(replayRecord),
    }),
  },
  { name: 'chat_templates', read: ({ db }, account) => countChatTemplates(db, liveAccountOf(account)) },
];

/** What `GET /v2/admin/stream` can tell. */
export const OPERATOR_SOURCES: readonly OperatorSource[] = [
  { name: 'overview', read: ({ db, clock }) => readOverview(db, clock) },
  { name: 'carriers', read: async ({ db, clock }) => ({ carriers: await readCarriers(db, clock.now()) }) },
  { name: 'ledger_checks', read: ({ db, clock }) => readLedgerChecks(db, clock) },
];

/** One kind of event of an account's stream. */
interface AccountSource {
  /** The event's name, by which clients listen: `balance`. */
  readonly name: string;
  /**
   * The whole current value, small, by an index: it is read every two seconds while somebody looks. The same things must give the
   * same JSON, because only changes are sent. So it has no "now" and no ages in it.
   */
  read(deps: SourceDeps, account: AccountId): Promise<object>;
}

interface SourceDeps {
  readonly db: Db;
  readonly clock: Clock;
}

/** One kind of event of the operators' stream. */
interface OperatorSource extends Omit<AccountSource, 'read'> {
  read(deps: SourceDeps): Promise<object>;
}

/** A source about one account, or about everything: what the hub reads, once for all who look. */
export interface Reading {
  readonly name: string;
  /** Equal for equal readings. */
  readonly key: string;
  read(): Promise<object>;
}
