import { createAudit } from '../account/audit.ts';
import { createLedger } from '../account/ledger.ts';
import { createLedgerCsv } from '../account/ledger-csv.ts';
import { createOwnNumbers } from '../account/numbers.ts';
import { createAddOptOut, createOptOuts, createRemoveOptOut } from '../account/opt-outs.ts';
import { noQuery } from '../http/no-query.ts';
import { createEvents } from '../messages/list-events.ts';
import { createMessages } from '../messages/list-messages.ts';
import { createMessage } from '../messages/show-message.ts';
import type { GatewayDeps } from '../process/deps.ts';
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
  on('/v2/account/audit', { get: [...key('manage'), createAudit(reading)] });
}
