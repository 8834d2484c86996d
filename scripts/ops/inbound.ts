import { listUnassigned } from '../../shared/messages/inbound-store.ts';
import { type Command, defineCommand } from './command.ts';
import { flag, integer, withDefault } from './parameters.ts';
import { more, table } from './show.ts';

/** The most characters of a text in the table. --json shows all. */
const SHOWN_TEXT = 60;

export const INBOUND_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'inbound',
    verb: 'list',
    about: 'Shows received SMS that belong to no account, newest first.',
    args: {},
    options: {
      limit: withDefault(integer('N', 1, 10_000), '100', 'most to show'),
      text: flag('also what they say'),
    },
    notes:
      'No account has their number, or no keyword of the number fits. They are removed after INBOUND_DAYS. With INBOUND_UNASSIGNED=refuse\n' +
      'messages to numbers of nobody are refused to the carrier instead.',
    async run({ limit, text }, { db }) {
      const found = (await listUnassigned(await db(), limit)).flatMap(({ at, carrier, unassigned, expiresAt }) =>
        unassigned === undefined ? [] : [{ at, carrier, expiresAt, ...unassigned }],
      );
      const heading = ['RECEIVED', 'CARRIER', 'FROM', 'TO', ...(text ? ['TEXT'] : [])];
      const rows = found.map(({ at, carrier, from, to, body }) => [
        ...[at.toISOString(), carrier, from, to],
        ...(text ? [printable(body)] : []),
      ]);
      return {
        text: `${table(heading, rows, 'There are none.')}${more(found, limit)}`,
        json: found.map(({ at, carrier, from, to, type, body, expiresAt }) => ({
          ...{ at, carrier, from, to, type },
          ...(text ? { body } : {}),
          expires_at: expiresAt,
        })),
      };
    },
  }),
];

/** Makes a text safe to print, because anybody who writes to a number could otherwise control the operator's terminal. */
function printable(body: string): string {
  const line = body.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.length > SHOWN_TEXT ? `${line.slice(0, SHOWN_TEXT)}…` : line;
}
