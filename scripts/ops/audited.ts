import { hostname, userInfo } from 'node:os';
import type { Db } from 'mongodb';
import { WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/store.ts';
import { findWordSettings } from '../../shared/carriers/opt-outs/words.ts';
import { type Actor, auditView, beginEntry, completeEntry, type Subject } from '../../shared/people/audit.ts';
import { findKey } from '../../shared/people/keys/store.ts';
import { auditedUser } from '../../shared/people/users/user.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { findTemplate } from '../../shared/templates/sms/store.ts';
import type { Answer, Command, Context, LongAnswer } from './command.ts';
import { theUser } from './owners.ts';

type Values = Readonly<Record<string, unknown>>;

/** Verbs that change nothing. All others are audited, future ones included. */
const LOOKS = new Set([
  'list',
  'show',
  'settings',
  'verify',
  'check',
  'explain',
  'receipt-profiles',
  'read-receipt',
  '',
]);
/** Not audited here, because the store is stopped. Copying writes its own entry. */
const ON_THEIR_OWN = new Set(['store restore', 'store compact', 'store export', 'store import']);

/** How to find what a noun's commands change: its id in the command's words, and its state. */
interface Thing {
  id(values: Values): unknown;
  read(db: Db, values: Values): Promise<object | undefined>;
}

const accountOf = ({ account }: Values) => account as AccountId; // the commands of these nouns read it by `accountId`

const THINGS: Readonly<Record<string, Thing>> = {
  'operator-key': { id: ({ key }) => key, read: (db, { key }) => findKey(db, String(key)) },
  user: {
    id: ({ username }) => username,
    read: async (db, words) => auditedUser(await theUser(db, words)),
  },
  // The new operator, not a user of an account with the same name.
  'user invite-operator': {
    id: ({ username }) => username,
    read: async (db, { username }) => auditedUser(await theUser(db, { username, operator: true })),
  },
  template: {
    id: ({ account, template }) => named(account, template),
    read: (db, values) => findTemplate(db, accountOf(values), String(values.template)),
  },
  // `carrier test`
  carrier: { id: ({ carrier }) => carrier, read: async () => undefined },
  'opt-out words': {
    id: ({ account, number }) => named(account, number ?? WHOLE_ACCOUNT),
    read: (db, values) => findWordSettings(db, accountOf(values), String(values.number ?? WHOLE_ACCOUNT)),
  },
};

function thingOf({ noun, verb }: Command): Thing | undefined {
  return THINGS[`${noun} ${verb}`] ?? THINGS[noun];
}

/** The account that a command is about. */
function accountIn({ account }: Values): unknown {
  return typeof account === 'string' ? account : undefined;
}

/** The id of an account's thing. Undefined if the words name none, such as for a file of many. */
function named(account: unknown, name: unknown): string | undefined {
  return name === undefined ? undefined : `${account}:${name}`;
}

/**
 * Runs a command; if it changes something, writes audit entries before and after. If the first entry cannot be written,
 * the command does not start. `failed` means that it ended with an error; the entry then shows the thing's state at
 * that time.
 */
export async function runAudited(command: Command, values: Values, context: Context): Promise<Answer | LongAnswer> {
  if (command.isEndpoint || LOOKS.has(command.verb) || ON_THEIR_OWN.has(`${command.noun} ${command.verb}`))
    return command.run(values, context);
  const db = await context.db();
  const thing = thingOf(command);
  const state = async (words: Values): Promise<Values | undefined> => {
    const found = thing?.id(words) === undefined ? undefined : await thing.read(db, words);
    return found && auditView(found);
  };
  const before = await state(values);
  const now = context.clock.now();
  const id = newId('aud', now.getTime());
  const account = (accountIn(values) ?? before?.account) as AccountId | undefined; // as `accountId` read it, or as stored
  const intended = {
    ...{ actor: operator(), action: `${command.noun}.${command.verb}`, subject: subjectOf(command, thing?.id(values)) },
    ...(account && { account }),
    ...(before && { before }),
  };
  await beginEntry(db, id, intended, { now, keptDays: context.config.auditDays });
  /** Completes the entry. If the store fails before that, the entry stays `begun`: the command may have been done. */
  const complete = async (outcome: 'done' | 'failed', words: Values, otherwise?: Values): Promise<void> => {
    try {
      const after = (await state(words)) ?? otherwise;
      const of = (accountIn(words) ?? account) as AccountId | undefined; // as above, or of what was made
      const subject = subjectOf(command, thing?.id(words));
      await completeEntry(db, id, { outcome, subject, ...(of && { account: of }), ...(after && { after }) });
    } catch {
      // The command is done; a failure of the audit must not replace its answer.
    }
  };
  let answer: Answer | LongAnswer;
  try {
    answer = await command.run(values, context);
  } catch (error) {
    await complete('failed', values);
    throw error;
  }
  await complete('done', { ...values, ...madeBy(command, answer) }, summaryOf(answer));
  return answer;
}

/** `asha@vm-1`, or `asha (root)@vm-1` under sudo. Over SSH, also the address of that person's terminal. */
export function operator(): Actor {
  const { SUDO_USER: before, SSH_CONNECTION: connection } = process.env;
  const user = userName();
  const who = before === undefined ? user : `${before} (${user})`;
  const [address] = connection?.split(' ') ?? [];
  return { kind: 'ops', id: `${who}@${hostname()}`, ...(address ? { address } : {}) };
}

/** A container may run as a user id without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

function subjectOf({ noun }: Command, id: unknown): Subject {
  const kind = noun === 'operator-key' ? 'key' : noun;
  return id === undefined ? { kind } : { kind, id: String(id) };
}

/** The words by which the created thing can be found, from the command's answer. */
function madeBy({ noun }: Command, answer: Answer | LongAnswer): Values {
  const { id, account } = membersOf(answer);
  return {
    ...(account === undefined ? {} : { account }),
    ...(noun === 'operator-key' && id !== undefined ? { key: id } : {}),
  };
}

/** Counts only, for changes of many things and for removals: nothing that identifies a customer. */
function summaryOf(answer: Answer | LongAnswer): Values {
  const told = Object.entries(membersOf(answer)).flatMap(([name, value]): [string, unknown][] => {
    if (Array.isArray(value)) return [[name, value.length]];
    return typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [];
  });
  return Object.fromEntries(told);
}

function membersOf(answer: Answer | LongAnswer): Values {
  return 'json' in answer ? { ...Object(answer.json) } : {};
}
