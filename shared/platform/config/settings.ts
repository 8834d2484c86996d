import { isZone } from '../runtime/clock.ts';
import { CRASH_POINTS, parseCrashPoint } from '../runtime/crash-point.ts';
import { StartError } from '../runtime/lifecycle.ts';

/** Every setting, declared once. `.env.example` is generated from this table; a test compares the two. */
interface Setting<T> {
  readonly env: string;
  readonly fallback: T;
  /** Meaning, unit, and when to change it, in one or two sentences. */
  readonly about: string;
  /** Undefined for an illegal value. */
  parse(text: string): T | undefined;
  readonly form: string;
}

function text(env: string, fallback: string, about: string): Setting<string> {
  return { env, fallback, about, parse: (value) => value, form: 'text' };
}

function integer(env: string, fallback: number, min: number, max: number, about: string): Setting<number> {
  return {
    env,
    fallback,
    about,
    form: `a whole number from ${min} to ${max}`,
    parse: (value) => {
      const number = Number(value);
      return /^\d+$/.test(value) && number >= min && number <= max ? number : undefined;
    },
  };
}

function choice<const T extends string>(env: string, fallback: T, values: readonly T[], about: string): Setting<T> {
  return { env, fallback, about, form: values.join(' | '), parse: (value) => values.find((known) => known === value) };
}

function list(env: string, about: string): Setting<readonly string[]> {
  return { env, fallback: [], about, form: 'a comma-separated list', parse: partsBy(',') };
}

function lines(env: string, about: string): Setting<readonly string[]> {
  return { env, fallback: [], about, form: 'lines with | between them', parse: partsBy('|') };
}

function partsBy(mark: string) {
  return (value: string): readonly string[] =>
    value
      .split(mark)
      .map((part) => part.trim())
      .filter((part) => part !== '');
}

/** Kept as written. */
function timeOfDay(env: string, fallback: string, about: string): Setting<string> {
  return {
    env,
    fallback,
    about,
    form: 'a time like 09:30',
    parse: (value) => (/^([01]\d|2[0-3]):[0-5]\d$/.test(value) ? value : undefined),
  };
}

export const SETTINGS = {
  mongodbUri: text(
    'HARKARA_MONGODB_URI',
    '',
    'MongoDB to use. Empty: the embedded store, started with the product and kept in HARKARA_DATA_DIR.',
  ),
  mongodbDatabase: text('HARKARA_MONGODB_DATABASE', 'harkara', 'Name of the database.'),
  dataDir: text('HARKARA_DATA_DIR', './data', 'Directory of the embedded store and of the secret key file.'),
  secretKey: text(
    'HARKARA_SECRET_KEY',
    '',
    'Key that encrypts carrier passwords, provider tokens and webhook secrets at rest: 64 hexadecimal digits. Several with commas: the first seals, the others only open, while the key is changed. Empty: <data dir>/secret.key, made at the first start, never beside a store with secrets. Keep a copy: without this key they cannot be read any more.',
  ),
  host: text(
    'HARKARA_HOST',
    '127.0.0.1',
    'Address that the gateway listens on. Loopback by default: put a TLS proxy in front.',
  ),
  port: integer('HARKARA_PORT', 3000, 0, 65_535, 'TCP port of the gateway.'),
  publicUrl: {
    env: 'HARKARA_PUBLIC_URL',
    fallback: '',
    about:
      'Address at which browsers reach the gateway, such as https://sms.example.com. With https, cookies of the dashboard travel over TLS only. Empty: the address that the gateway listens on.',
    form: 'an address like https://sms.example.com, without a path',
    parse: (value: string) => {
      const { protocol, origin } = URL.canParse(value) ? new URL(value) : { protocol: '', origin: '' };
      const isOrigin = /^https?:$/.test(protocol) && [origin, `${origin}/`].includes(value);
      return isOrigin ? origin : undefined;
    },
  },
  metricsHost: text(
    'HARKARA_METRICS_HOST',
    '127.0.0.1',
    'Address that GET /metrics listens on, without a key. Loopback by default; elsewhere an address that only your monitoring reaches.',
  ),
  metricsPort: integer(
    'HARKARA_METRICS_PORT',
    9464,
    0,
    65_535,
    'TCP port of GET /metrics: any gateway answers there with the metrics of all processes. 0: no such port.',
  ),
  otlpUrl: {
    env: 'HARKARA_OTLP_URL',
    fallback: '',
    about:
      'Address of an OpenTelemetry collector that traces of messages are posted to, such as http://127.0.0.1:4318/v1/traces (OTLP over HTTP, in JSON). Empty: no traces.',
    form: 'an address like http://127.0.0.1:4318/v1/traces',
    parse: (value: string) => {
      const { protocol = '', username = '' } = URL.canParse(value) ? new URL(value) : {};
      return /^https?:$/.test(protocol) && username === '' ? value : undefined;
    },
  },
  otlpPercent: {
    env: 'HARKARA_OTLP_PERCENT',
    fallback: 100,
    about: 'How many messages, batches and schedules of a hundred are traced: 1 or 0.1 with much traffic.',
    form: 'a number up to 100 like 1 or 0.1',
    parse: (value: string) => (/^\d{1,3}(\.\d{1,3})?$/.test(value) && Number(value) <= 100 ? Number(value) : undefined),
  },
  gatewayInstances: integer(
    'HARKARA_GATEWAY_INSTANCES',
    0,
    0,
    64,
    'Gateway processes that PM2 starts in cluster mode. 0: one for every two cores, at least one.',
  ),
  trustProxy: list(
    'HARKARA_TRUST_PROXY',
    "Proxies whose X-Forwarded-For header is trusted: addresses or subnets. Empty: the caller's address is that of the connection.",
  ),
  logLevel: choice(
    'HARKARA_LOG_LEVEL',
    'info',
    ['debug', 'info', 'warn', 'error', 'silent'],
    'Lowest level of log lines that are written.',
  ),
  maxSegments: integer(
    'HARKARA_MESSAGE_MAX_SEGMENTS',
    10,
    1,
    255,
    'Longest message that is accepted, in SMS segments.',
  ),
  promotionalFrom: timeOfDay(
    'HARKARA_PROMOTIONAL_FROM',
    '10:00',
    'From this time of day (IST) on, promotional messages of accounts with DLT may leave.',
  ),
  promotionalUntil: timeOfDay(
    'HARKARA_PROMOTIONAL_UNTIL',
    '21:00',
    'Until this time of day (IST). Messages accepted outside these hours wait. Equal to HARKARA_PROMOTIONAL_FROM: they may leave at any time.',
  ),
  validityHours: integer(
    'HARKARA_MESSAGE_VALIDITY_HOURS',
    48,
    1,
    168,
    'How long a message may take from being accepted to being delivered before it expires, in hours.',
  ),
  verifyPerNumber: integer(
    'HARKARA_VERIFY_PER_NUMBER',
    5,
    1,
    1_000,
    'How many verification codes an account may send to one number in a clock hour (POST /v2/verify).',
  ),
  verifyPerClient: integer(
    'HARKARA_VERIFY_PER_CLIENT',
    20,
    1,
    100_000,
    'How many verification codes an account may send in a clock hour for one client_ip (IPv6: one /64) that it names.',
  ),
  messageDays: integer(
    'HARKARA_MESSAGE_DAYS',
    90,
    14,
    3_650,
    'How long messages are kept after their final status, and conversations after their last message, in days. The ledger is kept as long as its account.',
  ),
  closedAccountDays: integer(
    'HARKARA_CLOSED_ACCOUNT_DAYS',
    2_920,
    90,
    3_650,
    'How long a closed account is kept with its ledger, senders, users and audit, in days; then all of it is erased. The default is eight years, as long as books must be kept in India.',
  ),
  textDays: integer(
    'HARKARA_TEXT_DAYS',
    90,
    1,
    3_650,
    'How long texts of messages are kept after their final status, in days, if that is less than HARKARA_MESSAGE_DAYS. Without their text messages cannot be sent again.',
  ),
  deliveryDays: integer(
    'HARKARA_DELIVERY_DAYS',
    30,
    21,
    3_650,
    'How long webhook deliveries are kept, with the log of their posts, in days.',
  ),
  messageLogDays: integer(
    'HARKARA_MESSAGE_LOG_DAYS',
    30,
    1,
    3_650,
    "How long the raw receipts and carriers' answers of timelines are kept, in days.",
  ),
  inboundUnassigned: choice(
    'HARKARA_INBOUND_UNASSIGNED',
    'keep',
    ['keep', 'refuse'],
    'What happens to a received SMS to a number that no account has: kept for `ops inbound list`, or refused for good to the carrier.',
  ),
  inboundDays: integer(
    'HARKARA_INBOUND_DAYS',
    30,
    1,
    3_650,
    'How long received SMS that belong to no account are kept, in days. A change of this setting affects only new ones.',
  ),
  auditDays: integer(
    'HARKARA_AUDIT_DAYS',
    730,
    30,
    3_650,
    'How long the audit log (who changed which setting) is kept, in days. A change of this setting affects only new entries.',
  ),
  webhookTimeoutMs: integer(
    'HARKARA_WEBHOOK_TIMEOUT_MS',
    15_000,
    100,
    60_000,
    'How long one webhook post may take, in milliseconds.',
  ),
  webhookConcurrency: integer('HARKARA_WEBHOOK_CONCURRENCY', 32, 1, 100, 'Most posts in flight to one host.'),
  webhookAllowHttp: choice(
    'HARKARA_WEBHOOK_ALLOW_HTTP',
    'no',
    ['no', 'yes'],
    'Whether webhook addresses may be http instead of https.',
  ),
  webhookAllowSubnets: list(
    'HARKARA_WEBHOOK_ALLOW_SUBNETS',
    'Private subnets that webhooks and chat-app media may use although private addresses are refused: 10.1.0.0/16:8443 opens one port of it, [fd00::/8]:8443 too, 10.1.0.0/16 every port, and acc_…=10.1.0.0/16:8443 is for that account only.',
  ),
  chatUserCredits: integer(
    'HARKARA_CHAT_USER_CREDITS',
    1,
    1,
    1_000,
    'Price, in credits, of a chat-app conversation that the customer started: charged with our first message while the session is open.',
  ),
  chatBusinessCredits: integer(
    'HARKARA_CHAT_BUSINESS_CREDITS',
    2,
    1,
    1_000,
    'Price, in credits, of a chat-app conversation that the business started: charged with our first message (a template) outside a session.',
  ),
  crashAt: {
    env: 'HARKARA_CRASH_AT',
    fallback: '',
    about:
      'Tests only: the crash point at which a process kills itself, `settle:updated` or for the third time `settle:updated#3` (docs/crash-points.md).',
    form: `one of ${Object.keys(CRASH_POINTS).join(', ')}`,
    parse: (value: string) => (parseCrashPoint(value) === undefined ? undefined : value),
  },
  chatMediaAllowHttp: choice(
    'HARKARA_CHATAPP_ALLOW_HTTP_MEDIA',
    'no',
    ['no', 'yes'],
    'Whether media of chat-app messages may have http addresses instead of https.',
  ),
  smtpHost: text(
    'HARKARA_SMTP_HOST',
    '',
    'Mail server that notices, invitations and password links are sent through. Empty: no mail is sent; the dashboard shows operators what waits.',
  ),
  smtpPort: integer(
    'HARKARA_SMTP_PORT',
    587,
    1,
    65_535,
    'TCP port of the mail server: 587 with starttls, 465 with tls.',
  ),
  smtpTls: choice(
    'HARKARA_SMTP_TLS',
    'starttls',
    ['starttls', 'tls', 'none'],
    'How the connection to the mail server is encrypted. starttls: it must offer it. none: only for a server on this machine; a password is then never sent elsewhere. Its certificate must be valid; add your own authority with NODE_EXTRA_CA_CERTS.',
  ),
  smtpUser: text('HARKARA_SMTP_USER', '', 'Name to sign in at the mail server with. Empty: without signing in.'),
  smtpPassword: text(
    'HARKARA_SMTP_PASSWORD',
    '',
    'Password for it. A secret: in .env alone, never in the environment of PM2.',
  ),
  mailFrom: text(
    'HARKARA_MAIL_FROM',
    '',
    'Sender of mails, such as Harkara <no-reply@sms.example.com>. Needed with HARKARA_SMTP_HOST.',
  ),
  statementSeller: lines(
    'HARKARA_STATEMENT_SELLER',
    'Who sells: the lines at the head of the monthly statements, name and address, with | between them.',
  ),
  statementTaxName: text(
    'HARKARA_STATEMENT_TAX_NAME',
    '',
    'Name of the tax on statements, such as GST. Empty: no tax.',
  ),
  statementTaxPercent: {
    env: 'HARKARA_STATEMENT_TAX_PERCENT',
    fallback: '0',
    about: 'The tax in per cent, such as 18. Only accounts with a price per credit have money on their statements.',
    form: 'a number like 18 or 7.5',
    parse: (value: string) => (/^\d{1,2}(\.\d{1,3})?$/.test(value) ? value : undefined),
  },
  statementTaxNumber: text(
    'HARKARA_STATEMENT_TAX_NUMBER',
    '',
    "The seller's number for this tax. With the tax name GST and a GSTIN, statements have CGST and SGST for buyers of the same state, and IGST for others.",
  ),
  statementServiceCode: text(
    'HARKARA_STATEMENT_SERVICE_CODE',
    '',
    'The code of the service on statements: the SAC under GST. Ask your accountant.',
  ),
  statementZone: {
    env: 'HARKARA_STATEMENT_ZONE',
    fallback: 'UTC',
    about: 'Time zone in which months of statements begin, such as Asia/Kolkata.',
    form: 'a time zone like Asia/Kolkata',
    parse: (value: string) => (isZone(value) ? value : undefined),
  },
  simulator: choice(
    'HARKARA_SIMULATOR',
    'off',
    ['off', 'on'],
    'Development only: PM2 also starts the simulated carrier, chat-app provider, webhook receiver and mail server. `npm start` sets it.',
  ),
  simulatorSmscPort: integer('HARKARA_SIMULATOR_SMSC_PORT', 2775, 0, 65_535, 'TCP port of the simulated carrier.'),
  simulatorChatappPort: integer(
    'HARKARA_SIMULATOR_CHATAPP_PORT',
    4020,
    0,
    65_535,
    'TCP port of the simulated chat-app provider.',
  ),
  simulatorWebhookPort: integer('HARKARA_SIMULATOR_WEBHOOK_PORT', 4010, 0, 65_535, 'TCP port of the webhook receiver.'),
  simulatorHttpCarrierPort: integer(
    'HARKARA_SIMULATOR_HTTP_CARRIER_PORT',
    4030,
    0,
    65_535,
    'TCP port of the simulated carrier over HTTP.',
  ),
  simulatorMailPort: integer('HARKARA_SIMULATOR_MAIL_PORT', 4025, 0, 65_535, 'TCP port of the simulated mail server.'),
} as const satisfies Record<string, Setting<unknown>>;

/** Like settings, but nobody has a reason to change them. Tests do. */
const FIXED = {
  /** How long a process may use what it read about a key: a revoked key is refused after this time. */
  keyCacheMs: 4_000,
  /** Requests with a missing or wrong API key per minute and IP address (IPv6: one /64). Further ones get 429. */
  authFailuresPerMinute: 30,
};

export type Config = Readonly<typeof FIXED> & {
  readonly [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
};

/** Throws one `StartError` that lists every bad setting and the form of its values. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = [];
  const config: Record<string, unknown> = { ...FIXED };
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const given = env[setting.env];
    const value = given === undefined || given === '' ? setting.fallback : setting.parse(given);
    if (value === undefined) problems.push(`${setting.env} must be ${setting.form}, not "${given}".`);
    config[name] = value;
  }
  if (problems.length > 0) throw new StartError(problems.join('\n'));
  return config as Config; // every name of SETTINGS was set to a value of its own parser or fallback just above
}

/** Where a program on this machine reaches the API. */
export function gatewayUrl(config: Pick<Config, 'host' | 'port'>): string {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${config.port}`;
}

/** Where browsers reach the gateway. */
export function publicUrl(config: Pick<Config, 'publicUrl' | 'host' | 'port'>): string {
  return config.publicUrl === '' ? gatewayUrl(config) : config.publicUrl;
}
