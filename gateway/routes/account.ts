import { createAudit } from '../endpoints/audit/audit.ts';
import { createLedger } from '../endpoints/ledger/ledger.ts';
import { createLedgerCsv } from '../endpoints/ledger/ledger-csv.ts';
import { createEvents } from '../endpoints/messages/list-events.ts';
import { createMessages } from '../endpoints/messages/list-messages.ts';
import { createMessage } from '../endpoints/messages/show-message.ts';
import { createOwnNumbers } from '../endpoints/numbers/numbers.ts';
import { createAddOptOut, createOptOuts, createRemoveOptOut } from '../endpoints/numbers/opt-outs.ts';
import { createSenders } from '../endpoints/senders/list.ts';
import { createRemoveSender } from '../endpoints/senders/remove.ts';
import { createRequestSender } from '../endpoints/senders/request.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

export function routeAccount(on: On, deps: GatewayDeps, parts: Parts): void {
  const { once, message, reading, charge } = parts;
  const key = keyHandlers(parts);
  on('/v2/messages', { get: [...key('read'), createMessages(reading)] });
  on('/v2/messages/:message_id', { get: [...key('read'), noQuery, createMessage(reading)] });
  on('/v2/events', { get: [...key('read'), createEvents(reading)] });
  on('/v2/ledger', { get: [...key('read'), createLedger(reading)] });
  on('/v2/ledger.csv', { get: [...key('read'), createLedgerCsv({ ...deps, charge })] });
  // A key that may send may also say which customers get no messages.
  on('/v2/account/opt-outs', {
    get: [...key('read', 'manage'), createOptOuts(reading)],
    post: [...key('send', 'manage'), message, once(createAddOptOut(deps))],
  });
  on('/v2/account/opt-outs/:opt_out_id', { delete: [...key('manage'), noQuery, createRemoveOptOut(deps)] });
  on('/v2/account/numbers', { get: [...key('read', 'manage'), createOwnNumbers(reading)] });
  on('/v2/account/senders', {
    get: [...key('read', 'manage'), createSenders(reading)],
    post: [...key('manage'), message, once(createRequestSender(deps))],
  });
  on('/v2/account/senders/:sender_id', { delete: [...key('manage'), noQuery, createRemoveSender(deps)] });
  on('/v2/account/audit', { get: [...key('manage'), createAudit(reading)] });
}
