import type { Db } from 'mongodb';
import { readBalance } from '../../shared/accounts/store.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { HOUR_MS } from '../../shared/statistics/hour.ts';
import { readHours } from '../../shared/statistics/store.ts';
import { listNewestReplays } from '../../shared/webhooks/replay-store.ts';
import { readCarriers } from '../admin/carriers/list.ts';
import { readLedgerChecks } from '../admin/ledger-checks/ledger-checks.ts';
import { readOverview } from '../admin/traffic/overview.ts';
import { countChatTemplates } from '../endpoints/chat-templates/templates.ts';
import { replayRecord } from '../endpoints/webhooks/replays.ts';
import { listMessages } from '../messages/message-list.ts';
import { messageRecord } from '../messages/message-record.ts';
import { balanceRecord } from '../sms/balance.ts';
import type { AccountSource, OperatorSource } from './source.ts';

/** As many as a page shows without scrolling. */
const NEWEST = 20;

/** What `GET /v2/account/stream` can tell. A new kind of event is an entry here, and its line in docs/openapi.json. */
export function accountSources(db: Db, clock: Clock): readonly AccountSource[] {
  return [
    {
      name: 'balance',
      read: async (account) => balanceRecord(await readBalance(db, account)),
    },
    {
      name: 'messages',
      read: async (account) => {
        const { messages } = await listMessages(db, account, {}, undefined, NEWEST);
        return { data: messages.map(messageRecord) };
      },
    },
    {
      // What the running hour and the one before have by now: the page of statistics reads them again when this changes.
      name: 'statistics',
      read: async (account) => {
        const hours = await readHours(db, account, new Date(clock.now().getTime() - HOUR_MS));
        return {
          hours: hours.map(({ _id, states, credits }) => ({ at: _id.slice(account.length + 1), states, credits })),
        };
      },
    },
    {
      name: 'inbox',
      read: async (account) => {
        const { messages } = await listMessages(db, account, { direction: 'in' }, undefined, 1);
        return { message_id: messages[0]?._id ?? null };
      },
    },
    {
      name: 'replays',
      read: async (account) => ({ data: (await listNewestReplays(db, account, NEWEST)).map(replayRecord) }),
    },
    { name: 'chat_templates', read: (account) => countChatTemplates(db, account) },
  ];
}

/** What `GET /v2/admin/stream` can tell. */
export function operatorSources(db: Db, clock: Clock): readonly OperatorSource[] {
  return [
    { name: 'overview', read: () => readOverview(db, clock) },
    { name: 'carriers', read: async () => ({ carriers: await readCarriers(db, clock.now()) }) },
    { name: 'ledger_checks', read: () => readLedgerChecks(db, clock) },
  ];
}
