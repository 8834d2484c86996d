import type { Db } from 'mongodb';
import { completionFor } from '../../shared/carriers/numbers/completion.ts';
import type { OptOutDocument, OptOutPlace } from '../../shared/carriers/opt-outs/opt-out.ts';
import { changeOptOuts, listOptOuts, optOutPlace } from '../../shared/carriers/opt-outs/store.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { type Command, defineCommand } from './command.ts';
import { readNumberFile, refuseBadLines } from './number-file.ts';
import { OPT_OUT_HEADING, optOutLine, optOutsOf } from './opt-out-file.ts';
import { existing } from './owners.ts';
import { accountId, required, words } from './parameters.ts';

const account = required(accountId, 'the account');
/** The most opt-outs in one write or read. */
const GROUP = 1_000;

export const OPT_OUT_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'opt-out',
    verb: 'import',
    about:
      'Adds the opt-outs of a CSV file: customer, and perhaps number and since (a day, or a time with its offset). If any line is bad, nothing is added.',
    args: { account, file: required(words('FILE', 'a file', /^.+$/), 'as `opt-out export` writes it') },
    options: {},
    notes: 'May be repeated, also after it was interrupted: who is on the list stays as before.',
    async run({ account, file }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      const now = clock.now();
      const { lines, problems } = optOutsOf(await readNumberFile(file), await completionFor(store, account), now);
      refuseBadLines(problems);
      for (let start = 0; start < lines.length; start += GROUP) {
        const what = { account, kind: 'out', source: 'import' } as const;
        const group = lines.slice(start, start + GROUP);
        await changeOptOuts(
          store,
          group.map(({ customer, scope, since }) => ({ ...what, customer, scope, at: now, ...(since && { since }) })),
        );
      }
      return { text: `${lines.length} opt-outs are on the list.`, json: { account, imported: lines.length } };
    },
  }),
  defineCommand({
    noun: 'opt-out',
    verb: 'export',
    about: 'Writes all opt-outs of an account as CSV, which `opt-out import` reads.',
    args: { account },
    options: {},
    async run({ account }, { db }) {
      const store = await db();
      await existing(store, account);
      return { lines: (asJson) => exported(store, account, asJson) };
    },
  }),
];

async function* exported(store: Db, account: AccountId, asJson: boolean): AsyncIterable<string> {
  if (!asJson) yield OPT_OUT_HEADING;
  let after: OptOutPlace | undefined;
  for (;;) {
    const found: OptOutDocument[] = await listOptOuts(store, account, {}, after, GROUP);
    for (const one of found) {
      const { customer, scope, since, source, word } = one;
      yield asJson ? JSON.stringify({ customer, scope, since, source, word }) : optOutLine(one);
    }
    const last = found.at(-1);
    if (last === undefined || found.length < GROUP) return;
    after = optOutPlace(last);
  }
}
