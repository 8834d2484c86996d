import { listCarriers } from '../../shared/carriers/carrier-store.ts';
import { BadChain, listChains, removeChain, setChain } from '../../shared/carriers/chain-store.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, required, words } from './parameters.ts';
import { table } from './show.ts';

const account = required(accountId, 'the account');
const carrier = required(words('CARRIER', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its short name');
const telemarketers = words(
  'IDS',
  'ids of 10 to 20 digits with commas, at most ten',
  /^[0-9]{10,20}(,[0-9]{10,20}){0,9}$/,
);

/** The PE-TM chains of India's DLT that belong to an account. */
export const CHAIN_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'chain',
    verb: 'set',
    about: "Gives an account telemarketers of its own at a carrier, for DLT's chain hash.",
    args: { account, carrier },
    options: { telemarketers: required(telemarketers, 'from the first after the entity to the delivering one') },
    notes:
      'The hash is SHA-256 of the entity id of the message and these ids, with commas. It is sent where the carrier has a tag for it\n' +
      '(`carrier update --dlt`). Workers know it within seconds.',
    async run({ account, carrier, telemarketers }, { db }) {
      const store = await db();
      await existing(store, account);
      if (!(await listCarriers(store)).some(({ _id }) => _id === carrier)) {
        throw new Failure(`There is no carrier "${carrier}": \`carrier list\` shows them.`);
      }
      const ids = telemarketers.split(',');
      try {
        await setChain(store, account, carrier, ids);
      } catch (error) {
        if (error instanceof BadChain) throw new Failure(`Refused. ${error.message}`, { cause: error });
        throw error;
      }
      return {
        text: `${account} reaches ${carrier} through ${ids.join(', ')}.`,
        json: { account, carrier, telemarketers: ids },
      };
    },
  }),
  defineCommand({
    noun: 'chain',
    verb: 'remove',
    about: "Removes an account's own telemarketers at a carrier. The carrier's own are used then, if it has any.",
    args: { account, carrier },
    options: {},
    async run({ account, carrier }, { db }) {
      const store = await db();
      await existing(store, account);
      if (!(await removeChain(store, account, carrier))) {
        throw new Failure(`${account} has no chain of its own at ${carrier}: \`chain list ${account}\` shows them.`);
      }
      return { text: `${account} has no chain of its own at ${carrier} any more.`, json: { account, carrier } };
    },
  }),
  defineCommand({
    noun: 'chain',
    verb: 'list',
    about: "Shows an account's own telemarketers.",
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      const all = await listChains(store, account);
      const rows = all.map((one) => [one.carrier, one.telemarketers.join(',')]);
      return {
        text: table(['CARRIER', 'TELEMARKETERS'], rows, "It uses each carrier's own chain."),
        json: all.map(({ carrier, telemarketers }) => ({ carrier, telemarketers })),
      };
    },
  }),
];
