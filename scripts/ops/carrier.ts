import { CARRIER_DEFAULTS, type CarrierDlt, type CarrierDocument } from '../../shared/carriers/carrier.ts';
import { BadCarrier, type CarrierInput } from '../../shared/carriers/carrier-form.ts';
import {
  CarrierExists,
  createCarrier,
  NoSuchCarrier,
  setCarrierStatus,
  updateCarrier,
} from '../../shared/carriers/store.ts';
import type { Route } from '../../shared/messages/message.ts';
import { type Answer, type Command, defineCommand, Failure } from './command.ts';
import { listConditions } from './list-conditions.ts';
import { choice, flag, integer, list, name, optional, type Parameter, required, words } from './parameters.ts';
import { table } from './show.ts';

const PASSWORD_VARIABLE = 'SMPP_PASSWORD';
const PATHS = ['transactional', 'promotional'] as const satisfies readonly Route[];
const carrier = required(words('CARRIER', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its short name');
const host = words('HOST', 'a host name or an address', /^[^\s/]{1,253}$/);
const port = integer('PORT', 1, 65_535);
const systemId = words('ID', '1 to 15 ASCII characters', /^[\x20-\x7e]{1,15}$/);
const WEEK_MS = 604_800_000;
const IS_MS = 'in milliseconds';

/** `standard` is only for the help. An absent option keeps its value in an update and takes the default in a creation. */
function setting<T>(
  shape: Parameters<typeof optional<T>>[0],
  standard: unknown,
  about: string,
): Parameter<T | undefined> {
  return { ...optional(shape, about), standard: String(standard) };
}

const dltTags = {
  value: 'TAGS',
  form: 'off, or tags for entity, template and perhaps hash, like 0x1400,0x1401,0x1402',
  parse: (text: string): 'off' | Omit<CarrierDlt, 'form'> | undefined => {
    if (text === 'off') return text;
    if (!/^0x[0-9a-f]{4}(,0x[0-9a-f]{4}){1,2}$/i.test(text)) return undefined;
    const [entityTag, templateTag, hashTag] = text.split(',').map(Number);
    if (entityTag === undefined || templateTag === undefined) return undefined;
    return { entityTag, templateTag, ...(hashTag === undefined ? {} : { hashTag }) };
  },
};

const D = CARRIER_DEFAULTS;
const settings = {
  tls: setting(choice(['no', 'yes']), 'no', 'connect with TLS'),
  systemType: setting(
    words('TYPE', 'at most 12 ASCII characters', /^[\x20-\x7e]{0,12}$/),
    D.systemType,
    'system_type of the bind',
  ),
  bindKind: setting(
    choice(['transceiver', 'pair']),
    D.bindKind,
    'one session for both ways, or transmitter and receiver',
  ),
  binds: setting(integer('N', 1, 50), D.binds, 'parallel binds of that kind'),
  windowSize: setting(integer('N', 1, 10_000), D.windowSize, 'unanswered submit_sm per bind'),
  perSecond: setting(integer('N', 0, 100_000), D.perSecond, 'segments a second over all binds; 0: no limit of ours'),
  paths: setting(list('PATHS', PATHS), D.paths.join(','), 'what it serves'),
  enquireLinkMs: setting(integer('MS', 100, 600_000), D.enquireLinkMs, `silence before an enquire_link, ${IS_MS}`),
  responseTimeoutMs: setting(
    integer('MS', 100, 600_000),
    D.responseTimeoutMs,
    `how long it may take to answer, ${IS_MS}`,
  ),
  idForm: setting(
    choice(['learn', 'exact']),
    D.idForm,
    'whether ids in receipts may be in another notation (base, case)',
  ),
  receiptOffsetMinutes: setting(
    integer('MIN', -840, 840),
    D.receiptOffsetMinutes,
    'time zone of dates in receipts, east of UTC',
  ),
  unknownPolicy: setting(
    choice(['assume_sent', 'resend']),
    D.unknownPolicy,
    'for a submit without an answer: count it as sent (it is lost if it never left), or send it again (it may arrive twice)',
  ),
  dlt: setting(dltTags, D.dlt, 'tags of the TLVs with the ids of DLT, or off'),
  dltForm: optional(choice(['octet', 'cstring']), 'with --dlt: form of these values; default octet'),
  dltChain: optional(
    words('IDS', 'ids of 10 to 20 digits with commas', /^[0-9]{10,20}(,[0-9]{10,20})*$/),
    'with --dlt: telemarketers after the entity, for the hash of accounts without a `chain`',
  ),
  unknownWaitMs: setting(
    integer('MS', 0, WEEK_MS),
    D.unknownWaitMs,
    `how long --unknown-policy waits for an answer, ${IS_MS}`,
  ),
};
/** The price of each policy, measured with `npm run chaos`. */
const POLICY_NOTE =
  'assume_sent: in a run of 15 kills, 4 of 7,788 messages were charged and never left. resend lost none and doubled none there.';
const PASSWORD_NOTE =
  `The password comes from ${PASSWORD_VARIABLE}, from stdin with --password-stdin, or is asked for; never from an option,\n` +
  'because the list of processes would show it. Workers see changes within seconds.';

export const CARRIER_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'carrier',
    verb: 'create',
    about: 'Adds a carrier; the SMPP worker binds to it within seconds.',
    args: { carrier },
    options: {
      name: optional(name, 'its name for people and in the status of messages; default: the short name'),
      host: required(host, 'where its SMSC is'),
      port: required(port, 'its SMPP port'),
      systemId: required(systemId, 'system_id of the bind'),
      passwordStdin: flag('read the password from stdin'),
      ...settings,
    },
    notes: `${POLICY_NOTE}\n${PASSWORD_NOTE}`,
    run: ({ carrier, name, passwordStdin, ...given }, { db, clock, box, secret }) =>
      explained(async () => {
        const store = await db();
        const password = await secret(PASSWORD_VARIABLE, passwordStdin);
        const { host, port, systemId, ...rest } = given;
        const input = { _id: carrier, name: name ?? carrier, host, port, systemId, password };
        const made = await createCarrier(store, clock, box(), { ...changes(rest), ...input });
        return {
          text: `${carrier} is created. \`carrier list\` shows in a moment whether it is bound.`,
          json: view(made),
        };
      }),
  }),
  defineCommand({
    noun: 'carrier',
    verb: 'update',
    about: 'Changes settings of a carrier. Its binds end gracefully and start again with the new settings.',
    args: { carrier },
    options: {
      name: optional(name, 'its name for people and in the status of messages'),
      host: optional(host, 'where its SMSC is'),
      port: optional(port, 'its SMPP port'),
      systemId: optional(systemId, 'system_id of the bind'),
      password: flag(`change the password, to ${PASSWORD_VARIABLE} or what is typed`),
      passwordStdin: flag('change the password, to what is on stdin'),
      ...settings,
    },
    notes: `Options that are left out stay unchanged. ${PASSWORD_NOTE}\n${POLICY_NOTE}`,
    run: ({ carrier, password, passwordStdin, ...given }, { db, box, secret }) =>
      explained(async () => {
        const change = {
          ...changes(given),
          ...(password || passwordStdin ? { password: await secret(PASSWORD_VARIABLE, passwordStdin) } : {}),
        };
        if (Object.keys(change).length === 0) throw new Failure('Nothing to change: see `carrier update --help`.');
        const updated = await updateCarrier(await db(), box(), carrier, change);
        return { text: `${carrier} is updated: ${Object.keys(change).join(', ')}.`, json: view(updated) };
      }),
  }),
  defineCommand({
    noun: 'carrier',
    verb: 'list',
    about: 'Shows all carriers, whether they are bound, and why not (--json: every setting, every bind).',
    args: {},
    options: {},
    async run(_, { db, clock }) {
      const all = await listConditions(await db(), clock.now());
      const rows = all.map(({ carrier: one, words }) => [
        one._id,
        one.status,
        `${one.host}:${one.port}${one.tls ? ' (TLS)' : ''}`,
        one.systemId,
        `${one.binds} ${one.bindKind}`,
        String(one.windowSize),
        one.perSecond === 0 ? 'no limit' : String(one.perSecond),
        one.paths.join(','),
        one.name,
        words,
      ]);
      const heading = 'CARRIER,STATUS,ADDRESS,SYSTEM ID,BINDS,WINDOW,PER SECOND,PATHS,NAME,STATE'.split(',');
      const json = all.map(({ carrier, ...state }) => ({ ...view(carrier), state }));
      return { text: table(heading, rows, 'There are no carriers yet.'), json };
    },
  }),
  status('pause', 'paused', 'Ends its binds; what waits for it waits, or goes by another carrier of its paths.'),
  status('resume', 'active', 'Binds to a paused carrier again.'),
];

function status(verb: string, to: CarrierDocument['status'], about: string): Command {
  return defineCommand({
    noun: 'carrier',
    verb,
    about,
    args: { carrier },
    options: {},
    run: ({ carrier }, { db }) =>
      explained(async () => {
        await setCarrierStatus(await db(), carrier, to);
        return { text: `${carrier} is ${to}.`, json: { carrier, status: to } };
      }),
  });
}

/** The given options in the document's form. */
function changes(
  given: { readonly [name: string]: unknown } & {
    readonly tls?: 'no' | 'yes' | undefined;
    readonly dlt?: 'off' | Omit<CarrierDlt, 'form'> | undefined;
    readonly dltForm?: CarrierDlt['form'] | undefined;
    readonly dltChain?: string | undefined;
  },
): Partial<Omit<CarrierInput, '_id'>> {
  const { tls, dlt, dltForm, dltChain, ...rest } = given;
  const named = Object.entries(rest).filter(([, value]) => value !== undefined);
  const isTagged = dlt !== undefined && dlt !== 'off';
  if (!isTagged && (dltForm !== undefined || dltChain !== undefined)) {
    throw new Failure('--dlt-form and --dlt-chain need the tags: give --dlt too.');
  }
  const chain = dltChain === undefined ? {} : { chain: dltChain.split(',') };
  return {
    ...Object.fromEntries(named),
    ...(tls === undefined ? {} : { tls: tls === 'yes' }),
    ...(isTagged ? { dlt: { ...dlt, ...chain, form: dltForm ?? 'octet' } } : dlt === undefined ? {} : { dlt }),
  };
}

/** The errors of carrier settings are sentences already. */
async function explained(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof BadCarrier) throw new Failure(`Refused. ${error.message}`, { cause: error });
    if (error instanceof CarrierExists) throw new Failure(`Not created: ${error.message} (see \`carrier update\`).`);
    if (error instanceof NoSuchCarrier) throw new Failure(`Not done: ${error.message}; \`carrier list\` shows them.`);
    throw error;
  }
}

/** Without the password, sealed or not. */
function view({ _id, password: _, ...rest }: CarrierDocument): object {
  return { carrier: _id, ...rest };
}
