import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import { BadCarrier } from '../../shared/carriers/carrier-form.ts';
import { changedLeads } from '../../shared/carriers/carrier-secrets.ts';
import {
  CarrierExists,
  createCarrier,
  listCarriers,
  NoSuchCarrier,
  PasswordNeeded,
  setCarrierStatus,
  updateCarrier,
} from '../../shared/carriers/carrier-store.ts';
import { listConditions } from '../../shared/carriers/list-conditions.ts';
import { REQUIRED } from '../../shared/carriers/settings/basics.ts';
import { CARRIER_OPTIONS, settingsFrom } from './carrier-options.ts';
import { carrierView, settingRows } from './carrier-view.ts';
import { type Answer, type Command, defineCommand, Failure } from './command.ts';
import { flag, name, optional, required, words } from './parameters.ts';
import { givenOptions, optionProblems } from './read-words.ts';
import { sheet, table } from './show.ts';

const PASSWORD_VARIABLE = 'SMPP_PASSWORD';
const carrier = required(words('CARRIER', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its short name');
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
      host: required(REQUIRED.host, 'where its SMSC is'),
      port: required(REQUIRED.port, 'its SMPP port'),
      systemId: required(REQUIRED.systemId, 'system_id of the bind'),
      passwordStdin: flag('read the password from stdin'),
      ...CARRIER_OPTIONS,
    },
    notes: `${POLICY_NOTE}\n${PASSWORD_NOTE}`,
    run: ({ carrier, name, passwordStdin, ...given }, { db, clock, box, secret }) =>
      explained(async () => {
        const store = await db();
        const password = await secret(PASSWORD_VARIABLE, passwordStdin);
        const { host, port, systemId, ...rest } = given;
        const input = { _id: carrier, name: name ?? carrier, host, port, systemId, password };
        const made = await createCarrier(store, clock, await box(), { ...settingsFrom(rest), ...input });
        return {
          text: `${carrier} is created. \`carrier list\` shows in a moment whether it is bound.`,
          json: carrierView(made),
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
      host: optional(REQUIRED.host, 'where its SMSC is'),
      port: optional(REQUIRED.port, 'its SMPP port'),
      systemId: optional(REQUIRED.systemId, 'system_id of the bind'),
      password: flag(`change the password, to ${PASSWORD_VARIABLE} or what is typed`),
      passwordStdin: flag('change the password, to what is on stdin'),
      ...CARRIER_OPTIONS,
    },
    notes: `Options that are left out stay unchanged. What decides where the password is sent (host, port, TLS, system id, other hosts) is\nchanged only together with it: the command asks for it. ${PASSWORD_NOTE}\n${POLICY_NOTE}`,
    run: ({ carrier, password, passwordStdin, ...given }, { db, box, secret }) =>
      explained(async () => {
        const store = await db();
        const stored = (await listCarriers(store)).find(({ _id }) => _id === carrier);
        const settings = settingsFrom(given, stored?.dlt);
        const needed = stored !== undefined && changedLeads(stored, settings).length > 0;
        const change = {
          ...settings,
          ...(password || passwordStdin || needed ? { password: await secret(PASSWORD_VARIABLE, passwordStdin) } : {}),
        };
        if (Object.keys(change).length === 0) throw new Failure('Nothing to change: see `carrier update --help`.');
        const updated = await updateCarrier(store, await box(), carrier, change);
        const flags = { password: password || undefined, passwordStdin: passwordStdin || undefined };
        const options = givenOptions({ ...given, ...flags });
        return { text: `${carrier} is updated: ${options}.`, json: carrierView(updated) };
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
      const json = all.map(({ carrier, ...state }) => ({ ...carrierView(carrier), state }));
      return { text: table(heading, rows, 'There are no carriers yet.'), json };
    },
  }),
  defineCommand({
    noun: 'carrier',
    verb: 'show',
    about: 'Shows every setting of a carrier: its value, and what it is for.',
    args: { carrier },
    options: {},
    run: ({ carrier }, { db }) =>
      explained(async () => {
        const found = (await listCarriers(await db())).find(({ _id }) => _id === carrier);
        if (found === undefined) throw new NoSuchCarrier(`there is no carrier "${carrier}"`);
        const { _id, name, status, host, port, systemId } = found;
        const head = sheet({ carrier: _id, name, status, host, port, 'system-id': systemId });
        const rows = table(['SETTING', 'VALUE', '', 'WHAT IT IS'], settingRows(found), '');
        return { text: `${head}\n\n${rows}`, json: carrierView(found) };
      }),
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

/** Turns an error about a carrier into a `Failure`: its message is a sentence for the operator already. */
async function explained(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof BadCarrier) throw new Failure(`Refused. ${optionProblems(error.problems)}`, { cause: error });
    if (error instanceof PasswordNeeded) throw new Failure(`Not done: ${error.message}; give --password.`);
    if (error instanceof CarrierExists) throw new Failure(`Not created: ${error.message} (see \`carrier update\`).`);
    if (error instanceof NoSuchCarrier) throw new Failure(`Not done: ${error.message}; \`carrier list\` shows them.`);
    throw error;
  }
}
