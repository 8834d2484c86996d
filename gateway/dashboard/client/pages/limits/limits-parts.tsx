import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { accountLimits } from '../../../../endpoints/limits/limits.ts';
import { post } from '../../api/http.ts';
import { FormDialog, useDialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import type { FormValues } from '../../parts/form.tsx';
import { Card } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Badge, counted, Facts, number, percent, Stat, Stats, Time, type Tone } from '../../parts/value.tsx';

/** What is shown of limits to an account and to operators. */

export function SpendingStats({ day, month }: Caps) {
  return (
    <Stats>
      <Stat label="Spent today (UTC)" value={number(day.spent)} note={capNote(day)} />
      <Stat label="Spent this month (UTC)" value={number(month.spent)} note={capNote(month)} />
    </Stats>
  );
}

function capNote({ cap, spent, resets_on: on }: Cap): string {
  if (cap === null) return 'credits; no cap';
  const left = spent >= cap ? 'nothing left' : `${number(cap - spent)} left`;
  return `of ${number(cap)} credits, ${left}; anew on ${on}`;
}

/** `950 of 5,000`, of a key. */
export function capText({ cap, spent }: Cap): string {
  return cap === null ? 'no cap' : `${number(spent)} of ${number(cap)}`;
}

export function RecipientFacts({ limits }: { readonly limits: Limits }) {
  const { countries, daytime, recipient_per_hour: perHour, messages_per_conversation: inConversation, brake } = limits;
  return (
    <Facts
      facts={[
        ['Countries', countries === null ? 'all' : countries.map(countryName).join(', ')],
        ['Daytime of recipients', daytime === null ? 'at any time' : daytimeText(daytime)],
        ['One recipient', perHour === null ? 'any number' : `at most ${counted(perHour, 'message')} in a clock hour`],
        [
          'One chat-app conversation',
          inConversation === null ? 'any number' : `at most ${counted(inConversation, 'message')}`,
        ],
        ['Traffic that looks like fraud', BRAKES.find(([name]) => name === brake)?.[1] ?? brake],
      ]}
    />
  );
}

function daytimeText({ from, to, countries }: NonNullable<Limits['daytime']>): string {
  const where = countries === undefined ? "the recipient's country" : countries.map(countryName).join(', ');
  return `${from} to ${to} in ${where}; OTP at any time`;
}

const TONES: Readonly<Record<Hold['state'], Tone>> = { held: 'bad', watched: 'warn', released: 'plain' };

interface HoldsProps {
  readonly holds: readonly Hold[];
  /** The address below which a hold is released. */
  readonly path: string;
  readonly mayRelease: boolean;
  readonly onDone: () => void;
}

/** Nothing, when nothing looks like fraud. */
export function HoldsCard({ holds, path, mayRelease, onDone }: HoldsProps) {
  const [dialog, open] = useDialog();
  const release = ({ prefix }: Hold) =>
    open(
      <FormDialog
        title={`Release ${prefix}?`}
        lead={`Sends to numbers that begin with ${prefix} are accepted again within seconds, and are trusted for a week. Look first who asks for these messages.`}
        submit="Release traffic"
        look="danger"
        onSubmit={async (values) => {
          await post(`${path}/traffic-holds/${prefix}/release`, { reason: values.text('reason') });
          onDone();
          return `Numbers that begin with ${prefix} are sent to again.`;
        }}
      >
        <Field name="reason" label="Why it is right" hint="It stands in the audit." />
      </FormDialog>,
    );
  if (holds.length === 0) return null;
  return (
    <Card
      title="Traffic that looks like fraud"
      lead="Numbers that begin alike got far more messages than in the two weeks before, and far fewer of them arrived, or far fewer codes were given back, while others were as ever. Somebody may be paid for them. What was accepted before goes on."
    >
      <Table
        caption="Traffic that looks like fraud"
        rows={holds}
        rowKey={({ prefix }) => prefix}
        columns={[
          PREFIX,
          { head: 'Status', cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
          { head: 'Since', cell: ({ since }) => <Time at={since} /> },
          {
            head: 'Messages in two hours',
            cell: (row) => `${number(row.messages)}, at most ${number(row.usual_messages)} before`,
          },
          { head: 'Arrived', cell: (row) => `${percent(row.delivered)}, usually ${percent(row.usual_delivered)}` },
          {
            head: 'Codes given back',
            cell: ({ converted, usual_converted: usually }) =>
              converted === null ? '–' : `${percent(converted)}, usually ${percent(usually ?? 0)}`,
          },
          { head: 'Released', cell: ({ released }) => released?.reason ?? '–' },
        ]}
        acts={mayRelease && ((row) => (row.state === 'held' ? [['Release', row.prefix, () => release(row)]] : []))}
      />
      {dialog}
    </Card>
  );
}

/** How the numbers begin that are counted together, and where they are from. */
export const PREFIX: Column<Pick<Hold, 'prefix' | 'country'>> = {
  head: 'Numbers',
  cell: ({ prefix, country }) => (
    <>
      <strong>{prefix}…</strong> {country !== null && <span class="soft">{countryName(country)}</span>}
    </>
  ),
};

/** The two fields of every cap. */
export function CapFields({ day, month }: Caps) {
  const shown = ({ cap }: Cap) => (cap === null ? '' : String(cap));
  return (
    <>
      <Field
        name="spend_per_day"
        label="Credits a day"
        optional
        inputMode="numeric"
        initial={shown(day)}
        hint="The most in a day (UTC). Empty: no cap."
      />
      <Field
        name="spend_per_month"
        label="Credits a month"
        optional
        inputMode="numeric"
        initial={shown(month)}
        hint="The most in a calendar month (UTC). Empty: no cap."
      />
    </>
  );
}

/** `GET /v2/account/limits`, and what operators see of an account. */
export type Limits = AnswerOf<typeof accountLimits>;

type Caps = Pick<Limits, 'day' | 'month'>;

type Cap = Limits['day'];

export type KeyCaps = Limits['keys'][number];

/** A prefix whose traffic looks like fraud. */
type Hold = Limits['holds'][number];

export const BRAKES: readonly (readonly [Limits['brake'], string])[] = [
  ['off', 'Off'],
  ['watch', 'Watch: show what looks like fraud'],
  ['hold', 'Hold: refuse sends to it until a person releases it'],
];

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' });

/** `AE` as `United Arab Emirates (AE)`. */
function countryName(code: string): string {
  return `${COUNTRY_NAMES.of(code)} (${code})`;
}

/** Of an account and of a route: when SMS may leave, by the recipient's clock. */
export function DaytimeFields({ daytime }: Pick<Limits, 'daytime'>) {
  return (
    <fieldset class="field">
      <legend>Daytime of recipients</legend>
      <p class="hint">
        SMS wait outside these hours of the recipient's country, in all of its time zones. OTP are not held. Empty: at
        any time.
      </p>
      <Field name="daytime.from" label="From" optional type="time" initial={daytime?.from ?? ''} />
      <Field name="daytime.to" label="Until" optional type="time" initial={daytime?.to ?? ''} />
      <Field
        name="daytime.countries"
        label="Only recipients in these countries"
        optional
        initial={daytime?.countries?.join(', ') ?? ''}
        hint="Two letters each: IN, AE. Empty: all."
      />
    </fieldset>
  );
}

/** As a member of the request. Hours of which one is missing are asked for, so that the answer says so. */
export function daytimeOf(values: FormValues) {
  const [from, to] = [values.optional('daytime.from'), values.optional('daytime.to')];
  if (from === undefined && to === undefined) return {};
  const countries = countriesIn(values.text('daytime.countries'));
  return { daytime: { from, to, ...(countries.length > 0 && { countries }) } };
}

export function countriesIn(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[^A-Z]+/)
    .filter(Boolean);
}
