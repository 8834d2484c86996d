import { completionFor } from '../../shared/carriers/numbers/store.ts';
import { findOptOut, WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/store.ts';
import { type AccountId, newId, optOutId } from '../../shared/platform/runtime/ids.ts';
import { phoneDigits } from '../../shared/platform/sheets/cell.ts';
import { type Act, perform, type Request, type Told, type Values } from './act.ts';
import { answerText, cell, listText, recordText } from './answer-text.ts';
import { bindsText, SETTING_OPTIONS, settingsText, withSettings } from './carrier-settings.ts';
import { type Context, daytime, Failure, flag, optional, ownNumber, required, words } from './command.ts';
import { readOctets } from './input.ts';
import { existingUser, NAMED_USER, ownerOfKey, ownerOfWebhook } from './owners.ts';
import { keysText, LINK_NOTES, linkText } from './people.ts';
import { CHANGED_ROUTE, existingRoute, findRoute, NEW_ROUTE, routeText, wholeRoute } from './route-options.ts';

/** The commands that are endpoints of the API, by noun. Other commands are in the files of their nouns. */

const status = (noun: string, verb: string, to: string, about: string, operation: string): Act => ({
  ...{ command: `${noun} ${verb}`, operation, about, fixed: { status: to } },
  say: (_, given) => `${given.account_id ?? given.carrier_id} is ${to}.`,
});

const ACCOUNT: readonly Act[] = [
  {
    ...{ command: 'account create', operation: 'createAccount', about: 'Creates an account, without credits.' },
    say: ({ account }) =>
      `${recordText(account)}\nCreated. Next: npm run ops -- credits top-up ${account.account_id} 1000`,
  },
  {
    ...{ command: 'account list', operation: 'operatorAccounts', about: 'Shows accounts, newest first.' },
    columns: ['account_id', 'status', 'balance', 'currency', 'expiry_date', 'name'],
  },
  {
    ...{ command: 'account show', operation: 'operatorAccount', about: 'Shows an account, and what it lacks to send.' },
    say: (account) =>
      [recordText(account), ...account.missing_to_send.map((one: string) => needOf(one, account))].join('\n'),
  },
  { command: 'account update', operation: 'updateAccount', say: ({ account }) => recordText(account) },
  status(
    'account',
    'suspend',
    'suspended',
    'Refuses its sends (403) until it is resumed; what waits, waits.',
    'setAccountStatus',
  ),
  status(
    ...(['account', 'pause', 'paused'] as const),
    'Holds the waiting messages of an account until it is resumed. Its sends are still accepted, and wait too.',
    'setAccountStatus',
  ),
  status(
    'account',
    'resume',
    'active',
    'Lets a suspended or paused account send again, what waited first.',
    'setAccountStatus',
  ),
];

/** What an account lacks, with the command that provides it. */
function needOf(what: string, { account_id: id, missing_to_send: missing }: Told): string {
  if (what === 'entity_id') return `It cannot send without a PE id: account update ${id} --entity-id PE-ID`;
  if (what === 'sender') return `It cannot send without a sender: sender create ${id} SENDER`;
  const needed = missing.includes('sender') ? '' : ', of an approved sender';
  return `It cannot send without a template: template import ${id} FILE (or template create${needed})`;
}

const CREDIT_NOTE =
  'The same --id again for the same account changes nothing. So if you do not know whether it succeeded, repeat it.';
const creditId = optional(
  words('ID', '1 to 64 letters, digits, _ or -', /^[A-Za-z0-9_-]{1,64}$/),
  'ensures that it happens once, for example an invoice number; default: a new id',
);

const credit = (verb: string, kind: string, about: string): Act => ({
  ...{ command: `credits ${verb}`, operation: 'creditAccount', about, notes: CREDIT_NOTE },
  ...{ args: ['amount'], fixed: { kind }, more: { id: creditId } },
  ...(kind === 'top_up' && { defaults: { reason: 'Top-up' } }),
  prepare(asked, { id }, { tell }) {
    const idempotencyKey = typeof id === 'string' ? id : newId('top').slice('top_'.length);
    if (id === undefined)
      tell(`Its id is ${idempotencyKey}. If it is interrupted, repeat it with --id ${idempotencyKey}.`);
    return { ...asked, idempotencyKey };
  },
  json: ({ replayed }) => ({ kind: replayed ? 'already' : 'applied' }),
  say({ amount, credit_id: id, balance, replayed }) {
    const did = amount < 0 ? `Took ${-amount}` : `Added ${amount}`;
    return `${replayed ? `Nothing added: id ${id} was added before.` : `${did} credits (id ${id}).`} Balance: ${balance}.`;
  },
});

const CREDITS: readonly Act[] = [
  credit('top-up', 'top_up', 'Adds credits to an account, once for each --id.'),
  credit('correct', 'correction', 'Puts a mistake right: adds credits, or takes them away, once for each --id.'),
  {
    ...{ command: 'credits list', operation: 'operatorLedger' },
    about: 'Shows the statement of an account, newest first: every change of its balance.',
    columns: ['seq', 'at', 'amount', 'balance_after', 'reason', 'reference', 'note', 'by'],
  },
];

const OF_KEY = { account: ownerOfKey, names: { allowed_ips: 'allow_ip' } } as const;
const NEW_KEY_NOTE = 'Keep it now: only its hash is stored.';
const namesOfKeys = (made: readonly Told[]) =>
  made.map(({ key_id, name, state }) => `${key_id} (${name}, ${state})`).join(', ');

const KEY: readonly Act[] = [
  {
    ...{ command: 'key create', operation: 'createKey', names: OF_KEY.names, defaults: { scopes: 'send,read' } },
    about: 'Creates an API key and shows it, only this once.',
    notes:
      'Scopes: `send`, `read`, `otp` (the most urgent lane), `manage` (settings). Registering a chat-app webhook needs `manage`, or `send` and\n' +
      '`read`, because messages from customers are posted there. From an address outside --allow-ip the key is refused (403 ip_not_allowed).\n' +
      'Behind a proxy, set HARKARA_TRUST_PROXY: otherwise the proxy counts as the caller.',
    say: ({ key, key_id }) => `${key}\n${NEW_KEY_NOTE} To revoke it: npm run ops -- key revoke ${key_id}`,
  },
  {
    ...{ command: 'key list', operation: 'keys' },
    about: 'Shows the keys of an account, newest first, and when each was used last.',
    columns: ['key_id', 'state', 'scopes', 'test', 'expires_at', 'last_used', 'last_address', 'requests_24h', 'name'],
  },
  {
    ...{ command: 'key show', operation: 'showKey', ...OF_KEY, say: (key) => recordText(key) },
    about: 'Shows a key, when, from where and how often it was used, who made it, and the keys that it made.',
    notes: 'Gateways report uses once a minute. Requests are those of the current hour and the 23 before it.',
  },
  {
    ...{ command: 'key update', operation: 'updateKey', ...OF_KEY },
    about: 'Changes what a key may do. It takes effect within 5 seconds. --allow-ip any: from everywhere.',
    say: ({ descendants, ...key }) =>
      `${recordText(key)}${descendants.length === 0 ? '' : `\nThe keys that it made are inside it: ${namesOfKeys(descendants)}.`}`,
  },
  {
    ...{ command: 'key rotate', operation: 'rotateKey', ...OF_KEY },
    about: 'Makes a key that replaces this one, and shows it, only this once. The old one works for a while longer.',
    say: ({ key, key_id }, { key_id: old }) =>
      `${key}\n${NEW_KEY_NOTE} \`key show ${old}\` says until when the old one works, \`key show ${key_id}\` until when this one.`,
  },
  {
    ...{ command: 'key revoke', operation: 'revokeKey', ...OF_KEY },
    about: 'Revokes a key for good. It is refused within 5 seconds.',
    say({ key_id, descendants }, given) {
      const made = descendants.length === 0 ? '' : ` The keys that it made: ${namesOfKeys(descendants)}.`;
      const hint =
        made === '' || given.descendants === 'revoke' ? '' : ' With --descendants revoke they are revoked too.';
      return `Key ${key_id} is revoked.${made}${hint}`;
    },
  },
];

const OF_USER = {
  ...{ args: ['username'], more: NAMED_USER, fixed: { user_id: '' } },
  async prepare(asked: Request, given: Values, { db }: Context) {
    return { ...asked, params: { user_id: (await existingUser(await db(), given))._id } };
  },
} as const;

const USER: readonly Act[] = [
  {
    ...{ command: 'user invite', operation: 'inviteToAccount', args: ['username'], names: { account_id: 'account' } },
    about: 'Makes a user of an account, and the link with which the user sets a password within 7 days.',
    notes: LINK_NOTES,
    say: ({ link, username, link_expires_at }) => linkText(link, username, link_expires_at),
  },
  {
    ...{ command: 'user reset', operation: 'anyUserLink', ...OF_USER },
    about: 'Makes a link with which a user sets another password within the hour.',
    notes: `Earlier links no longer work. ${LINK_NOTES} With --second-factor, first be sure who asks: the link is then all that is needed.`,
    more: {
      ...NAMED_USER,
      second_factor: flag('also removes the authenticator app and its recovery codes, and ends all sessions'),
    },
    async prepare(asked, given, context) {
      const request = await OF_USER.prepare(asked, given, context);
      if (given.second_factor === true) await perform(context, 'removeAnyFactor', request);
      return request;
    },
    say: ({ link, username, link_expires_at }) => linkText(link, username, link_expires_at),
  },
  {
    ...{ command: 'user list', operation: 'anyUsers', names: { account_id: 'account' } },
    about: 'Shows who may sign in to the dashboard: the users of an account, or the operators.',
    columns: ['username', 'role', 'status', 'second_factor', 'last_sign_in_at', 'user_id'],
  },
  {
    ...{ command: 'user disable', operation: 'setUserStatus', ...OF_USER },
    about: 'Keeps a user out: sessions end at once, and links no longer work.',
    fixed: { user_id: '', status: 'disabled' },
    say: ({ username, ...left }) => `${username} is disabled.${keysText(left)}`,
  },
  {
    ...{ command: 'user enable', operation: 'setUserStatus', ...OF_USER },
    about: 'Lets a disabled user in again.',
    fixed: { user_id: '', status: 'active', keys: undefined },
    say: ({ username }) => `${username} is let in again.`,
  },
  {
    ...{ command: 'user sessions', operation: 'endAnySessions', ...OF_USER },
    about: 'Ends all sessions of a user at once.',
    say: ({ username }) => `${username} is signed out everywhere.`,
  },
];

const SENDER: readonly Act[] = [
  {
    ...{
      command: 'sender create',
      operation: 'giveSender',
      about: 'Registers a sender to an account.',
      args: ['sender'],
    },
    say: ({ sender, state, sender_id, routes }) => `${sender} is ${state} (${sender_id}) for ${routes.join(', ')}.`,
  },
  ...(['approve', 'reject'] as const).map((verb): Act => {
    const decision = verb === 'approve' ? 'approved' : 'rejected';
    return {
      ...{ command: `sender ${verb}`, operation: 'decideSender', fixed: { decision }, names: { sender_id: 'id' } },
      about: verb === 'approve' ? 'Lets an account use a sender.' : 'Lets an account not use a sender any more.',
      say: ({ sender }) => `${sender} is ${decision}.`,
    };
  }),
  {
    ...{ command: 'sender list', operation: 'senders', about: 'Shows the senders of an account.' },
    columns: ['sender', 'state', 'routes', 'reason', 'sender_id'],
  },
];

const CTA: readonly Act[] = [
  {
    ...{ command: 'cta create', operation: 'giveCta', args: ['value'] },
    about: 'Registers a link, an app or a callback number to an account. It is approved.',
    say: ({ cta_id, kind, value }) => `${value} (${kind}) is registered (${cta_id}).`,
  },
  {
    ...{ command: 'cta import', operation: 'importCtasFor', args: ['csv'] },
    about: 'Registers the links and numbers of a CSV file to an account; all are approved, also what it asked for.',
    prepare: async (asked, { csv }) => ({
      ...asked,
      body: { ...asked.body, csv: (await readOctets(String(csv))).toString('utf8') },
    }),
    say: ({ imported, known, approved, dry_run }) =>
      `${imported} ${dry_run ? 'would be registered' : 'registered'}, ${known} known, of which ${approved} ${dry_run ? 'would be' : 'were'} approved.`,
  },
  {
    ...{ command: 'cta list', operation: 'ctas', about: 'Shows the registered links and numbers of an account.' },
    columns: ['value', 'kind', 'state', 'reason', 'cta_id'],
  },
  ...(['approve', 'reject'] as const).map((verb): Act => {
    const decision = verb === 'approve' ? 'approved' : 'rejected';
    return {
      ...{ command: `cta ${verb}`, operation: 'decideCta', fixed: { decision } },
      about: `${verb === 'approve' ? 'Approves' : 'Rejects'} a link or number that an account asked for.`,
      say: ({ value }) => `${value} is ${decision}.`,
    };
  }),
];

const READ_NOTE =
  'What the account asked for itself needs --version, of the text that you read: the account may take it back and ask for another at any time.\n' +
  '`approval list` shows both. A request (tpr_…) has no id of the DLT platform yet: give it with --dlt-id.';

const TEMPLATE: readonly Act[] = [
  {
    ...{ command: 'template list', operation: 'accountTemplates', about: 'Shows the DLT templates of an account.' },
    columns: ['template_id', 'state', 'paused', 'senders', 'routes', 'name'],
  },
  {
    ...{ command: 'template approve', operation: 'decideTemplate', fixed: { decision: 'approved' }, notes: READ_NOTE },
    about: 'Lets an account send texts of a template. Gateways see it within seconds, webhooks are told.',
    say: ({ template_id: id }) => `${id} is approved.`,
  },
  {
    ...{ command: 'template reject', operation: 'decideTemplate', fixed: { decision: 'rejected', dlt_id: undefined } },
    about: 'Lets nobody send texts of a template any more, or refuses what an account asked for. Webhooks are told.',
    say: ({ template_id: id }) => `${id} is rejected.`,
  },
  {
    ...{ command: 'approval list', operation: 'approvals', names: { account_id: 'account' } },
    about: 'Shows senders, CTAs and DLT templates that wait for you: of each account the oldest three, or all of one.',
    say({ data, ...page }) {
      const rows = data.map(({ sender, cta, template, ...one }: Told) => ({
        ...{ ...one, ...template, text: template?.content ?? sender?.sender ?? cta.value },
        id: template?.template_id ?? sender?.sender_id ?? cta.cta_id,
      }));
      const columns = [
        'account_id',
        'account_waiting',
        'requested_at',
        'kind',
        'id',
        'senders',
        'entity_id',
        'version',
      ];
      return answerText({ ...page, data: rows }, { columns: [...columns, 'text'] });
    },
  },
];

const UNTAGGED: readonly Act[] = [
  {
    ...{ command: 'template untagged', operation: 'untaggedTemplates' },
    about: 'Shows the templates of an account that still have {#var#}, and what replaces them.',
    notes: '--format csv writes those that have a tag for each slot, as the DLT portals take them.',
    say: (told) =>
      [
        listText(told.data, ['template_id', 'state', 'untagged_slots', 'replaced_by', 'name']),
        `Still to be replaced: ${told.total}; replaced: ${told.replaced}. \`template doctor\` proposes tags.`,
      ].join('\n'),
  },
  {
    ...{ command: 'template doctor', operation: 'untaggedTemplate' },
    about:
      'Proposes a tag for each {#var#} of a template by the values that were sent, and shows what it would refuse.',
    say: tagsText,
  },
];

/** The proposal for each slot, its evidence, and the messages that it would refuse. */
function tagsText({ slots, examples, ...told }: Told): string {
  const unproposed = told.messages === 0 ? 'none: nothing was sent with it' : 'none: no tag takes enough of its values';
  const tags = slots.map(({ number, tag, takes, touches }: Told) => {
    const most = Object.entries<number>(takes).map(([name, count]) => `${name} ${count}`);
    return `slot ${number}: ${tag ?? (touches ? 'none: it touches another slot' : unproposed)} (of ${told.messages} values: ${most.join(', ')})`;
  });
  const refused = examples.map(
    ({ message_id, slots: wrong, text }: Told) => `${message_id} slot ${wrong.join(', ')}: ${cell(text)}`,
  );
  return [
    told.tagged_content,
    ...tags,
    `It rests on ${told.messages} of ${told.messages_counted} messages; texts are known for ${told.known_days} of 90 days.`,
    `It would refuse ${told.refused} of them${refused.length > 0 ? ':' : '.'}`,
    ...refused,
  ].join('\n');
}

const NUMBER: readonly Act[] = [
  {
    ...{ command: 'number add', operation: 'addNumber', args: ['number', 'account_id'] },
    about: 'Gives a long number or short code to an account: what is sent to it is received by the account.',
    say({ number: { account_id, number, keyword } }) {
      const which = keyword === null ? 'everything that no keyword fits' : `messages that begin with "${keyword}"`;
      return `${account_id} gets ${which} to ${number}.`;
    },
  },
  {
    ...{
      command: 'number list',
      operation: 'operatorNumbers',
      about: 'Shows numbers and keywords, and whose they are.',
    },
    ...{ names: { account_id: 'account' }, columns: ['number', 'keyword', 'account_id', 'country', 'created_at'] },
  },
  {
    ...{ command: 'number show', operation: 'operatorNumbers', args: ['number'] },
    about: 'Shows the keywords of one number, and whose they are.',
    columns: ['number', 'keyword', 'account_id', 'country', 'created_at'],
  },
  {
    ...{ command: 'number remove', operation: 'removeNumber' },
    about: 'Takes a number, or one keyword of it, from its account. What was received stays.',
    say: ({ number: { number, keyword } }) =>
      `${keyword === null ? number : `${number} ${keyword}`} belongs to nobody now.`,
  },
];

const RECEIVED: readonly Act[] = [
  {
    ...{
      command: 'inbound list',
      operation: 'unassignedSms',
      about: 'Shows received SMS that belong to no account, newest first.',
    },
    notes:
      'No account has their number, or no keyword of the number fits. They are removed after HARKARA_INBOUND_DAYS. With HARKARA_INBOUND_UNASSIGNED=refuse\n' +
      'messages to numbers of nobody are refused to the carrier instead.',
    more: { text: flag('also what they say') },
    prepare: (asked, { text }) => ({ ...asked, query: { ...asked.query, text: text ? 'yes' : 'no' } }),
    columns: ['at', 'carrier_id', 'from', 'to', 'text'],
  },
  {
    ...{
      command: 'receipt unmatched',
      operation: 'unmatchedReceipts',
      about: 'Shows receipts that fit no message, newest first.',
    },
    columns: ['at', 'carrier_id', 'from', 'to', 'state', 'error_code', 'carrier_message_id'],
  },
];

const POLICY_NOTE =
  '--unknown-policy assume_sent: in a run of 15 kills, 4 of 7,788 messages were charged and never left. resend lost none and doubled none.';
const PASSWORD_NOTE =
  'The password comes from HARKARA_SMPP_PASSWORD, from stdin with --password-stdin, or is asked for; never from an option, because the list\n' +
  'of processes would show it. What decides where it is sent (host, port, TLS, system id, other hosts) is changed only together with it.';
const CARRIER_NOTES = `${POLICY_NOTE}\n${PASSWORD_NOTE}`;
const OF_CARRIER = {
  secrets: { password: 'HARKARA_SMPP_PASSWORD' },
  fixed: { settings: {} },
  more: SETTING_OPTIONS,
} as const;

const CARRIER: readonly Act[] = [
  {
    ...{
      command: 'carrier create',
      operation: 'createCarrier',
      args: ['carrier_id'],
      ...OF_CARRIER,
      notes: CARRIER_NOTES,
    },
    about: 'Adds a carrier; the SMPP worker binds to it within seconds.',
    prepare: withSettings,
    say: ({ carrier }) => `${carrier.carrier_id} is created. \`carrier list\` shows in a moment whether it is bound.`,
  },
  {
    ...{ command: 'carrier update', operation: 'updateCarrier', ...OF_CARRIER, notes: CARRIER_NOTES },
    about: 'Changes settings of a carrier. Its binds end gracefully and start again with the new settings.',
    async prepare(asked, given) {
      const whole = await withSettings(asked, given);
      if (Object.keys({ ...asked.body, ...Object(whole.body.settings), settings: 0 }).length > 1) return whole;
      if (given.password || given.password_stdin) return whole;
      throw new Failure('Nothing to change: see `carrier update --help`.');
    },
    say: ({ carrier }) => `${carrier.carrier_id} is updated.`,
  },
  {
    ...{ command: 'carrier test-bind', operation: 'testCarrierBind', ...OF_CARRIER, notes: PASSWORD_NOTE },
    about: 'Tries a bind with settings that are not saved, and unbinds. Sends nothing.',
    ...{ names: { carrier_id: 'carrier' }, prepare: withSettings, isDone: ({ ok }) => ok },
    say: ({ ok, words: said, pdus }) => [...pdus, '', `${ok ? 'ok ' : 'NO '} ${said}`].join('\n'),
  },
  {
    ...{ command: 'carrier list', operation: 'operatorCarriers' },
    about: 'Shows all carriers, whether they are bound, and why not.',
    columns: [
      'carrier_id',
      'status',
      'host',
      'port',
      'tls',
      'system_id',
      'window_size',
      'per_second',
      'paths',
      'name',
      'words',
    ],
  },
  {
    ...{ command: 'carrier show', operation: 'operatorCarrier', say: settingsText },
    about: 'Shows every setting of a carrier: its value, and what it is for.',
  },
  {
    ...{ command: 'carrier remove', operation: 'removeCarrier', say: ({ carrier_id }) => `${carrier_id} is removed.` },
    about: 'Removes a carrier that is paused, in no route, and done with what it had.',
  },
  status(
    'carrier',
    'pause',
    'paused',
    'Ends its binds; what waits for it waits, or goes by another carrier of its paths.',
    'setCarrierStatus',
  ),
  status('carrier', 'resume', 'active', 'Binds to a paused carrier again.', 'setCarrierStatus'),
  {
    ...{ command: 'bind list', operation: 'operatorCarriers', say: bindsText },
    about:
      'Shows each bind of each carrier: state, window, rate, time to the answer, throttled answers, receipts, last refusal.',
    notes:
      'Measured by the process that holds the carrier, since it began, told every three seconds. WINDOW: submits without an answer, of those\n' +
      'that may be. RATE: segments a second over all binds; with * it was learned when the carrier throttled. Times: of the last 1,000 answers.',
  },
  {
    command: 'chain set',
    operation: 'putChain',
    say: ({ chain }) => `It reaches ${chain.carrier_id} through ${chain.telemarketers.join(', ')}.`,
  },
  {
    command: 'chain remove',
    operation: 'removeChain',
    say: ({ carrier_id }) => `It has no chain of its own at ${carrier_id} any more.`,
  },
  { command: 'chain list', operation: 'operatorChains' },
];

const ROUTE_NOTE =
  'A message goes by one route, the first of: the highest --order; of its account; the longest prefix (a country counts as its code);\n' +
  'of its sender; of its kind of sender; of its priority; of its routing group. When there are routes and none matches, it is refused\n' +
  '(400 no_route): add one without conditions for the rest. The first carrier of a group is chosen by weights and the recipient. The next\n' +
  'one serves while those before it are down, paused, too slow or refuse nearly everything, and takes what they refuse with a code of\n' +
  'class failover (`carrier update --status-class`). Everybody follows a change within 2 s; what waits is routed anew.';
const OF_ROUTE = {
  names: {
    ...{ groups: 'carriers', countries: 'country', prefixes: 'prefix', senders: 'sender', senderKinds: 'senderKind' },
    ...{ accounts: 'account', routes: 'route', priorities: 'priority' },
  },
  operation: 'putRoute',
  notes: ROUTE_NOTE,
  fixed: { groups: [], matches: {} },
} as const;

const ROUTE: readonly Act[] = [
  {
    ...{ command: 'route add', about: 'Says which carriers take which messages.', ...OF_ROUTE, more: NEW_ROUTE },
    async prepare(asked, given, context) {
      if ((await findRoute(context, given.route_id)) === undefined) return wholeRoute(asked, given);
      throw new Failure(`Not added: route "${given.route_id}" exists already (see \`route set\`).`);
    },
    say: ({ route, warning }) => [routeText(route, ' is added'), ...(warning === null ? [] : [warning])].join('\n'),
  },
  {
    ...{ command: 'route set', ...OF_ROUTE, more: CHANGED_ROUTE },
    about: 'Changes a route. What is left out stays; `any` takes a condition away, `none` a price or the daytime.',
    prepare: async (asked, given, context) => wholeRoute(asked, given, await existingRoute(context, given.route_id)),
    say: ({ route, warning }) => [routeText(route, ' is changed'), ...(warning === null ? [] : [warning])].join('\n'),
  },
  {
    ...{ command: 'route remove', operation: 'removeRoute', say: ({ route_id }) => `${route_id} is removed.` },
    about: 'Removes a route. What waits goes by the others. Without any route the carriers’ own `paths` count again.',
  },
  {
    ...{ command: 'route list', operation: 'operatorRoutes', about: 'Shows all routes.' },
    say: ({ routes }) =>
      listText(
        ...([routes, ['route_id', 'order', 'words', 'wait_seconds', 'price']] as const),
        'There are no routes: the carriers’ `paths` say who takes what.',
      ),
  },
  {
    ...{ command: 'route explain', operation: 'explainRoute', args: ['to'], names: { account_id: 'account' } },
    about: 'Says who would carry a message to a number now, and why. Sends nothing.',
    say: ({ outcome, verdict, by, carriers, others }) =>
      outcome === 'refused'
        ? verdict
        : [
            ...[verdict, by],
            ...carriers.map(
              ({ carrier_id, words: state, takes }: Told, at: number) =>
                `  ${at + 1}. ${carrier_id}: ${state}${takes ? ' ← takes it' : ''}`,
            ),
            ...(others.length === 0 ? [] : [`Also matching, but less: ${others.join(', ')}.`]),
          ].join('\n'),
  },
];

const PROVIDER: readonly Act[] = [
  {
    ...{ command: 'provider set', operation: 'updateProvider' },
    names: { account_id: 'account' },
    about: 'Gives an account a number on the chat-app channel, or changes settings of it.',
    secrets: { token: 'HARKARA_CHATAPP_TOKEN', app_secret: 'HARKARA_CHATAPP_APP_SECRET' },
    notes:
      'The first time, --account, --base-url, --phone-number-id, --business-id and both secrets are required. Later only\n' +
      'the given options change; another --base-url needs the access token again. Secrets are never options, because the list of processes\n' +
      'would show them: the access token comes from HARKARA_CHATAPP_TOKEN, the app secret from HARKARA_CHATAPP_APP_SECRET, or from stdin; otherwise the\n' +
      'command asks for it. The first time it shows the callback address and, only this once, the verify token. Enter both at the provider.\n' +
      'An app at Meta has one callback address: for further accounts at the same app (with the same app secret) leave it as it is.\n' +
      'Each business account must be subscribed to the app (POST /ID/subscribed_apps), or nothing of it is posted: docs/operating.md.',
    prepare(asked, { token_stdin, app_secret_stdin }) {
      if (!token_stdin || !app_secret_stdin) return asked;
      throw new Failure('Only one secret can be on stdin. Give the other one in another way.');
    },
    say: ({ provider, verify_token: token }) =>
      [
        recordText(provider),
        ...(token === null
          ? []
          : [
              `verify token  ${token}`,
              'Now enter the callback address (with the public https address of the gateways before it) and the verify token at the provider:',
              'the token is not shown again (--new-verify-token makes another). The field to subscribe to is `messages`;',
              'docs/operating.md names those for templates and for warnings about the business account.',
              'If another account has its number at the same app, leave the address there as it is: what is posted to it finds this account too.',
              `Then subscribe the business account to the app, or nothing is posted: POST ${provider.base_url}/${provider.business_id}/subscribed_apps`,
            ]),
      ].join('\n'),
  },
  { command: 'provider show', operation: 'operatorProvider', say: (one) => recordText(one) },
  {
    ...{ command: 'provider list', operation: 'operatorProviders' },
    names: { account_id: 'account' },
    columns: ['account_id', 'number', 'default', 'condition', 'opt_in', 'base_url', 'stopped_reason'],
  },
  {
    ...{ command: 'provider test', operation: 'testProvider', args: ['to'], isDone: ({ ok }) => ok },
    say: ({ words: said }) => said,
  },
  {
    ...{ command: 'provider prices', operation: 'providerPrices' },
    say: ({ prices, ...list }) =>
      list.currency === null ? 'There is no price list.' : recordText({ ...list, prices }),
  },
  {
    ...{ command: 'provider set-prices', operation: 'setProviderPrices', args: ['csv'] },
    about: 'Sets what the provider takes for a message, by market and category, from a rate card.',
    notes:
      'CSV is a file. Its first column is `market`: a country, the digits that numbers begin with, or `other`; then a column for each\n' +
      'category (marketing, utility, authentication, service), or the columns `category` and `price`. It is the whole list.',
    prepare: async (asked, { csv }) => ({
      ...asked,
      body: { ...asked.body, csv: (await readOctets(String(csv))).toString('utf8') },
    }),
    say: ({ prices, currency }) =>
      currency === null ? 'The price list is removed.' : `${prices.length} prices in ${currency}.`,
  },
  {
    ...{ command: 'provider default', operation: 'makeProviderDefault' },
    about: 'Makes a number its account’s default: templates that name no number leave from it.',
    say: ({ provider }) => `${provider.number} is the default of ${provider.account_id}.`,
  },
  {
    ...{ command: 'provider remove', operation: 'removeProvider' },
    say: ({ number, account_id: account }) => `${number} is taken from ${account}.`,
  },
  status(
    'provider',
    'pause',
    'paused',
    'Lets what is sent wait; what customers write comes in all the same.',
    'setProviderStatus',
  ),
  status(
    'provider',
    'resume',
    'active',
    'Sends again after a pause, or after the provider refused the account.',
    'setProviderStatus',
  ),
];

const OPT_IN: readonly Act[] = [
  {
    ...{ command: 'opt-in add', operation: 'addOptIns', args: ['customers'] },
    about: 'Records that customers agreed to receive templates of an account: one, or several with commas.',
    notes: 'The list is used for accounts with `provider set --opt-in list`. It may be filled before that.',
    say: ({ added, known }) => `${added} on the list now, ${known} were before.`,
  },
  {
    command: 'opt-in remove',
    operation: 'removeOptIn',
    say: ({ customer }) => `${customer} is not on the list any more.`,
  },
  { command: 'opt-in list', operation: 'operatorOptIns', columns: ['customer', 'since'] },
];

const OWN_NUMBER = {
  number: optional(ownNumber, "the account's number that the opt-out is about; default: the account"),
};

const OPT_OUT: readonly Act[] = [
  {
    ...{ command: 'opt-out add', operation: 'addOptOut', args: ['customer'], more: OWN_NUMBER },
    about: 'Refuses SMS to a customer: those of a number of the account, or all of the account.',
    // A customer cannot answer a named sender, so an opt-out from a number covers those too (shared/carriers/opt-outs).
    say: ({ customer, number }) =>
      number === null
        ? `${customer} gets no SMS of the account.`
        : `${customer} gets no SMS of the number ${number}, nor of any sender name of the account.`,
  },
  {
    ...{ command: 'opt-out remove', operation: 'removeOptOut', args: ['customer'], fixed: { opt_out_id: '' } },
    about: 'Removes an opt-out: only when the customer asked for messages again.',
    more: { customer: required(words('NUMBER', 'a number', /^.+$/), "the customer's number"), ...OWN_NUMBER },
    async prepare(asked, given, context) {
      const [account, scope = WHOLE_ACCOUNT] = [given.account as AccountId, given.number as string | undefined]; // as read above
      const db = await context.db();
      const customer = (await completionFor(db, account))(phoneDigits(String(given.customer)), scope);
      const id = optOutId(account, customer, scope);
      if ((await findOptOut(db, account, id)) === undefined) {
        const what = scope === WHOLE_ACCOUNT ? 'the account' : `the number ${scope}`;
        throw new Failure(`${customer} has not opted out of ${what}: \`opt-out list ${account}\` shows who has.`);
      }
      return { ...asked, params: { opt_out_id: id } };
    },
    say: (_, { customer }) => `${customer} gets SMS again.`,
  },
  {
    ...{ command: 'opt-out list', operation: 'optOuts', about: 'Shows the customers who opted out, by number.' },
    columns: ['customer', 'number', 'since', 'source', 'word'],
  },
];

const CHAT_TEMPLATE: readonly Act[] = [
  {
    ...{ command: 'chat-template list', operation: 'ownChatTemplates' },
    about: 'Shows the chat-app templates of an account, as of the last copy from its provider.',
    notes:
      'Accounts ask for them by the dashboard or the API, or make them at the provider, who approves them. The chatapp worker copies\n' +
      'the list every ten minutes, and soon after the provider tells of a change.',
    columns: ['business_id', 'name', 'language', 'state', 'category', 'cannot_be_sent', 'change'],
  },
];

const OF_WEBHOOK = { account: ownerOfWebhook } as const;
/** Fields that enabling and disabling leave as they are. */
const UNCHANGED = Object.fromEntries(
  ['events', 'headers', 'retry_seconds', 'events_per_post', 'gather_ms', 'raw', 'filter'].map((name) => [
    name,
    undefined,
  ]),
);

const WEBHOOK: readonly Act[] = [
  {
    ...{ command: 'webhook create', operation: 'createWebhook', args: ['url'], defaults: { channel: 'sms' } },
    about: "Posts an account's events to a URL. Shows the secret that signs them, only this once.",
    notes:
      'Refused are http (allowed by HARKARA_WEBHOOK_ALLOW_HTTP=yes) and private addresses (allowed by HARKARA_WEBHOOK_ALLOW_SUBNETS);\n' +
      'gateways and workers need the same settings. A URL that the account has already keeps its id and secret, takes the\n' +
      'new events and is enabled.',
    say: ({ webhook_id, secret, events }) =>
      secret === undefined
        ? `${webhook_id} had this URL already: it keeps its secret, posts ${events.join(', ')} and is enabled.`
        : `${webhook_id}\n${secret}\nKeep the secret now: it checks the signatures (Standard Webhooks) and is not shown again.`,
  },
  {
    ...{ command: 'webhook list', operation: 'listWebhooks', about: 'Shows the webhooks of an account.' },
    columns: ['webhook_id', 'state', 'disabled_reason', 'failing_since', 'channel', 'url', 'events'],
  },
  {
    ...{ command: 'webhook update', operation: 'updateWebhook', ...OF_WEBHOOK, fixed: { state: undefined } },
    about: 'Changes which events are posted to a webhook, and how.',
    notes:
      'Headers and filter are JSON: --headers \'[{"name":"X-Team","value":"billing"}]\', --filter \'{"sender":["HARKRA"]}\'. Secrets stay out of the\n' +
      'history of the shell: the account enters secret headers itself.',
    say: ({ webhook_id }) => `${webhook_id} is changed.`,
  },
  ...(['disable', 'enable'] as const).map(
    (verb): Act => ({
      ...{ command: `webhook ${verb}`, operation: 'updateWebhook', ...OF_WEBHOOK },
      fixed: { ...UNCHANGED, state: verb === 'enable' ? 'active' : 'disabled' },
      about:
        verb === 'enable'
          ? 'Posts to a webhook again, from now on.'
          : 'Stops posting to a webhook. Its due posts are discarded.',
      say: ({ webhook_id }) => `${webhook_id} is ${verb}d.`,
    }),
  ),
  {
    ...{ command: 'webhook replay', operation: 'startReplay', ...OF_WEBHOOK },
    about:
      'Posts again what a webhook did not get: posts that failed in all tries, and posts that were due when it was disabled.',
    notes:
      'The webhooks worker does it in the background. It goes back as far as deliveries are kept (HARKARA_DELIVERY_DAYS). Posts that are due or wait\n' +
      'for their next try stay as they are. Events of the time when the webhook was disabled were not stored for it: GET /v2/events shows\n' +
      'them, for seven days.',
    say: ({ webhook_id, replay_id }) =>
      `${webhook_id} gets them again (${replay_id}); \`webhook replays\` shows how far it is.`,
  },
  {
    command: 'webhook replays',
    operation: 'replays',
    ...OF_WEBHOOK,
    columns: ['replay_id', 'state', 'since', 'progress', 'replayed'],
  },
  {
    ...{ command: 'webhook replay-event', operation: 'replayDelivery', ...OF_WEBHOOK },
    about: 'Posts one event to a webhook again, even if it acknowledged the event.',
    notes: "The event's id is the `webhook-id` of the post, and `event_id` in GET /v2/messages/{id}.",
    say: (_, { event_id }) => `Posts ${event_id} again.`,
  },
  {
    ...{
      command: 'webhook deliveries',
      operation: 'deliveries',
      ...OF_WEBHOOK,
      about: 'Shows what was posted, and what was answered.',
    },
  },
  {
    ...{ command: 'webhook test', operation: 'testWebhook', ...OF_WEBHOOK, isDone: ({ acknowledged }) => acknowledged },
    about: 'Posts a signed event webhook.test to a webhook now, and shows what was answered.',
    notes: 'It is no delivery: nothing is stored or repeated. It goes the way of all posts, from this machine.',
    say: ({ reason, result, duration_ms, answer }) =>
      `${reason} (${result}, ${duration_ms} ms)${answer === null ? '' : `\n${cell(answer)}`}`,
  },
  {
    ...{ command: 'webhook rotate', operation: 'rotateWebhookSecret', ...OF_WEBHOOK },
    about: 'Gives a webhook a new secret, shown only this once. The old one signs beside it for 24 hours.',
    say: ({ secret, old_secret_until }) =>
      `${secret}\nKeep it now, it is not shown again. ${old_secret_until === null ? 'Only the new one signs.' : `Until ${old_secret_until} posts have both signatures.`}`,
  },
  {
    ...{
      command: 'webhook remove',
      operation: 'removeWebhook',
      ...OF_WEBHOOK,
      say: ({ webhook_id }) => `${webhook_id} is removed.`,
    },
    about: 'Removes a webhook and its secret, which makes room for another. Its due posts are discarded.',
  },
];

const AUDIT: readonly Act[] = [
  {
    ...{ command: 'audit list', isPaged: true, operation: 'operatorAudit', names: { account_id: 'account' } },
    about: 'Shows who changed what, newest first (--json: before and after too).',
    notes:
      'An entry is written before its change and completed after it. One that says `begun` may have been done: the command was\n' +
      'stopped in between. Look at the thing itself. All changes of a thing that somebody makes within a minute are one entry.\n' +
      'Instead of a secret it shows a fingerprint, which changes with the secret. Entries are kept for HARKARA_AUDIT_DAYS.',
    say: ({ data, next_cursor }) => {
      const rows = data.map((one: Told) => ({
        ...{ time: one.at, outcome: one.outcome, change: one.action, of: one.subject.id },
        by: `${one.actor.kind} ${one.actor.id}${one.times > 1 ? ` (${one.times} times)` : ''}`,
        ...{ from: one.actor.address, members: changedMembers(one) },
      }));
      return `${listText(rows)}${next_cursor === null ? '' : `\nThere are more: --cursor ${next_cursor}`}`;
    },
  },
];

const INSTALLATION: readonly Act[] = [
  {
    ...{ command: 'message find', operation: 'findMessages', args: ['search'], names: { account_id: 'account' } },
    columns: ['message_id', 'created_at', 'status', 'to', 'sender', 'error_code', 'account_id', 'account_name'],
  },
  { command: 'message show', operation: 'operatorMessage', say: (message) => recordText(message) },
  {
    ...{ command: 'status', operation: 'operatorStatus', isDone: ({ status: worst }) => worst !== 'urgent' },
    notes: 'Exit code 1 means that something urgent is wrong.',
    say: ({ status: worst, watched_at, conditions }) =>
      [
        worst === 'ok' ? 'Nothing is wrong.' : '',
        ...conditions.map((one: Told) => `${one.severity.padEnd(6)}  ${one.words} Since ${one.since}. ${one.todo}`),
        watched_at === null ? 'No process looks: start the product.' : `Looked for at ${watched_at}.`,
      ]
        .filter((line) => line !== '')
        .join('\n'),
  },
  { command: 'report show', operation: 'adminReports' },
  {
    ...{ command: 'report losses', operation: 'conversationLosses', names: { account_id: 'account' } },
    about: 'Shows chat-app conversations that cost more than they earned, newest first.',
    columns: ['opened_at', 'account_id', 'messages', 'credits', 'earned', 'cost', 'lost', 'currency', 'opener'],
  },
  { command: 'queue list', operation: 'operatorQueues' },
  { command: 'mail list', operation: 'mails' },
  { command: 'account close', operation: 'closeAccount' },
  { command: 'account limits', operation: 'operatorLimits', say: (limits) => recordText(limits) },
  {
    command: 'account set-limits',
    operation: 'setLimits',
    about: 'Sets all limits of an account: what is left out ends.',
    more: {
      daytime: optional(daytime, "when its SMS may leave, by the clock of the recipient's country; otp always may"),
    },
    prepare({ body: { daytime: hours, ...body }, ...asked }) {
      return { ...asked, body: Object.keys(Object(hours)).length === 0 ? body : { ...body, daytime: hours } };
    },
  },
];

function changedMembers({ before, after }: Told): string {
  if (after === null) return '-';
  if (before === null) return 'new';
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name])).join(', ') || 'none';
}

export const ACTS: readonly Act[] = [
  ...[
    ACCOUNT,
    CREDITS,
    KEY,
    USER,
    SENDER,
    CTA,
    TEMPLATE,
    UNTAGGED,
    NUMBER,
    RECEIVED,
    CARRIER,
    ROUTE,
    PROVIDER,
    OPT_IN,
    OPT_OUT,
    CHAT_TEMPLATE,
    WEBHOOK,
    AUDIT,
    INSTALLATION,
  ].flat(),
];
