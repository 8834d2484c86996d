import { pageAccount, pageUser } from '../../access/page-user.ts';
import { pageMode } from '../../access/test-mode.ts';
import { endpoint } from '../../api/endpoint.ts';
import { Fault, optional, string } from '../../http/fields/field.ts';
import { liveOf } from './live.ts';
import { ACCOUNT_SOURCES, OPERATOR_SOURCES } from './sources.ts';

/** Live numbers for those who look at a page. */

export const accountStream = endpoint({
  id: 'accountStream',
  method: 'get',
  path: '/v2/account/stream',
  tag: 'Account',
  summary: 'Live numbers of the account',
  description:
    'Extension. A stream of server-sent events that stays open. Each event is named, and its `data` is a JSON object with the whole current value: it comes at once, and again after it has changed. Values are read every two seconds, once for all who listen. A comment line comes every 15 seconds. The event `end` with the `code` of a problem says that the key or the session may not listen any more. When the stream ends without it, open it again after three seconds. A key or a user can have 12 streams open, an account 100.',
  scopes: ['read'],
  test: 'apart',
  query: {
    events: eventsOf(
      ACCOUNT_SOURCES,
      'Which events to send, separated by commas; without it all. `balance`: the answer of `GET /v2/balance`. `messages`: `data` has the 20 newest messages, as `GET /v2/messages` shows them. `statistics`: `hours` has the states of this hour and the one before, as counted last. `inbox`: `message_id` is the newest message that a customer wrote, or null. `replays`: `data` has the 20 newest replays of webhooks, with their progress. `chat_templates`: `states` has the number of chat-app templates in each state, `waiting` how many requests are yet to be told to the provider.',
      'balance,inbox',
    ),
    user: pageUser('stream'),
    account: pageAccount(),
    mode: pageMode(),
  },
  problems: ['too_many_streams'],
  openapi: streamOf(
    'retry: 3000\n\nevent: balance\ndata: {"balance":4821,"currency":"INR","expiry_date":"2027-06-30"}\n\nevent: inbox\ndata: {"message_id":null}\n\n:\n\n',
  ),
  async stream(gateway, { caller, query: { events = ACCOUNT_SOURCES, user } }, res) {
    const account = caller.account._id;
    const readings = events.map(({ name, read }) => ({
      name,
      key: `${name} ${account}`,
      read: () => read(gateway, account),
    }));
    liveOf(gateway).open(res, readings, user);
  },
});

export const adminStream = endpoint({
  id: 'adminStream',
  method: 'get',
  path: '/v2/admin/stream',
  tag: 'Operators',
  summary: 'Live numbers of the operators',
  description:
    'Extension. As `GET /v2/account/stream`, for operators. Events: `overview` (as `GET /v2/admin/overview`), `carriers` (as `GET /v2/admin/carriers`), `ledger_checks` (the newest ten, in `data`).',
  scopes: ['admin:read'],
  query: {
    events: eventsOf(OPERATOR_SOURCES, 'Which events to send, separated by commas; without it all.', 'carriers'),
    user: pageUser('stream'),
  },
  problems: ['too_many_streams'],
  openapi: streamOf('retry: 3000\n\n:\n\n'),
  async stream(gateway, { query: { events = OPERATOR_SOURCES, user } }, res) {
    const readings = events.map(({ name, read }) => ({ name, key: name, read: () => read(gateway) }));
    liveOf(gateway).open(res, readings, user);
  },
});

/** `events=balance,messages`: the sources that the caller wants. */
function eventsOf<Source extends { readonly name: string }>(
  sources: readonly Source[],
  description: string,
  example: string,
) {
  const all = sources.map(({ name }) => name).join(', ');
  return optional(
    string({ description, example }, (events) => {
      const names = [...new Set(events.split(','))];
      const found = names.flatMap((name) => sources.find((source) => source.name === name) ?? []);
      return found.length === names.length
        ? found
        : new Fault('invalid_value', `It must be a list of these, with commas: ${all}.`);
    }),
  );
}

/** How the contract shows a stream. */
function streamOf(value: string): object {
  const content = { 'text/event-stream': { schema: { type: 'string' }, examples: { stream: { value } } } };
  return { responses: { 200: { description: 'The stream, which does not end by itself.', content } } };
}
