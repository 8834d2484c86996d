import type { Db } from 'mongodb';
import { z } from 'zod';
import { CONDITIONS, READ } from '../../../shared/conditions/catalogue.ts';
import {
  concerning,
  findAll,
  readEndedConditions,
  readOperatorConditions,
  SEVERITIES,
  SUBJECTS,
  type ToldCondition,
  toldTo,
} from '../../../shared/conditions/condition.ts';
import { findAccounts } from '../../../shared/money/accounts/store.ts';
import { readWatch } from '../../../shared/platform/processes/report.ts';
import { type Clock, isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { flag, named, text, time } from '../../api/shapes.ts';
import { AccountIdText } from '../operators/fields.ts';

/** What is wrong now, from the one list of conditions (docs/decisions/0044). */

const NAMES = Object.keys(CONDITIONS) as [keyof typeof CONDITIONS]; // its keys

export const Condition = named('Condition', 'Something that is wrong now, in words for the account.', {
  condition: z.enum(NAMES).meta({ example: 'carrier.refusing' }),
  condition_id: text('The same condition of the same thing has the same id whenever it comes.', {
    example: 'carrier.refusing:airtel',
  }),
  severity: z.enum(SEVERITIES).meta({
    description: '`urgent`: messages do not leave; act now. `look`: look at it today.',
    example: 'urgent',
  }),
  about: z.enum(SUBJECTS).meta({ example: 'carrier' }),
  about_id: text(undefined, { example: 'airtel' }),
  words: text('What is the case.', { example: 'Airtel refuses all messages: submit_sm failed (0x45).' }),
  todo: text('What to do.', { example: 'Ask the carrier, and pause it if another one can take its messages.' }),
  since: time(undefined, '2026-11-22T14:02:11+00:00'),
});

const OperatorCondition = named('OperatorCondition', 'Something that is wrong now, in words for operators.', {
  ...Condition.shape,
  account_id: AccountIdText.describe('Whose it is. Null: of no account.').nullable(),
  account_name: text(undefined, { example: 'Acme Retail' }).nullable(),
});

export const PresentConditions = {
  conditions: z
    .array(OperatorCondition)
    .meta({ description: 'What is wrong now, the most urgent first; at most 200. Empty when nothing is wrong.' }),
  more_conditions: flag('There are more than 200.'),
};

const OperatorStatus = named('OperatorStatus', {
  status: z.enum(['ok', ...SEVERITIES]).meta({
    description: 'The severity of the worst condition; `ok` without one.',
    example: 'urgent',
  }),
  watched_at: time('When it was looked for last. Null: no process looks.', '2026-11-22T14:05:10+00:00').nullable(),
  ...PresentConditions,
  ended: z
    .array(z.strictObject({ ...OperatorCondition.shape, ended_at: time(undefined, '2026-11-22T13:40:00+00:00') }))
    .meta({ description: 'What ended within the last day, the newest first; at most 20.' }),
});

const SHOWN_MAX = 200;
const ENDED_MS = 86_400_000;
const ENDED_MAX = 20;

export const operatorStatus = endpoint({
  id: 'operatorStatus',
  method: 'get',
  path: '/v2/admin/status',
  tag: 'Operators',
  summary: 'What is wrong now, and what ended lately',
  description:
    'Extension. Every condition that holds, with its severity, since when, and what to do; looked for every ten seconds, those of accounts every minute.',
  scopes: ['admin:read'],
  answer: OperatorStatus,
  async handle({ db, clock }) {
    const [{ watchedAt, shown, more }, ended] = await Promise.all([
      readPresent(db, clock),
      readEndedConditions(db, new Date(clock.now().getTime() - ENDED_MS), ENDED_MAX),
    ]);
    const gone = ended.flatMap((one) => toldTo('operator', one));
    const records = await operatorRecords(db, [...shown, ...gone]);
    return {
      status: shown[0]?.severity ?? ('ok' as const),
      watched_at: watchedAt === undefined ? null : isoTimestamp(watchedAt),
      conditions: records.slice(0, shown.length),
      more_conditions: more,
      ended: records
        .slice(shown.length)
        .map((one, i) => ({ ...one, ended_at: isoTimestamp(gone[i]?.endedAt ?? clock.now()) })),
    };
  },
});

export async function presentRecords(db: Db, clock: Clock): Promise<Shown<z.ZodObject<typeof PresentConditions>>> {
  const { shown, more } = await readPresent(db, clock);
  return { conditions: await operatorRecords(db, shown), more_conditions: more };
}

/** Also reports when the watch itself has stopped. */
async function readPresent(db: Db, clock: Clock) {
  const [stored, watch] = await Promise.all([readOperatorConditions(db, SHOWN_MAX + 1), readWatch(db)]);
  const now = clock.now();
  const all = concerning('operator', [...findAll(READ, { ...watch, now }, now), ...stored]);
  return { watchedAt: watch.watchedAt, shown: all.slice(0, SHOWN_MAX), more: all.length > SHOWN_MAX };
}

async function operatorRecords(
  db: Db,
  conditions: readonly ToldCondition[],
): Promise<readonly Shown<typeof OperatorCondition>[]> {
  const ids = [...new Set(conditions.flatMap(({ account }) => account ?? []))];
  const names = new Map((await findAccounts(db, ids)).map(({ _id, name }) => [_id, name]));
  return conditions.map((one) => ({
    ...conditionRecord(one),
    account_id: one.account ?? null,
    account_name: (one.account && names.get(one.account)) ?? null,
  }));
}

export function conditionRecord(one: ToldCondition): Shown<typeof Condition> {
  return {
    condition: one.name as keyof typeof CONDITIONS, // the catalogue's, which wrote it
    condition_id: one._id,
    severity: one.severity,
    about: one.subject.kind,
    about_id: one.subject.id,
    words: one.words,
    todo: one.todo,
    since: isoTimestamp(one.since),
  };
}
