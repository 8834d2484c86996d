import type { AnswerOf } from '../../../api/endpoint.ts';
import type { accountLimits, setLimits } from '../../../endpoints/limits/limits.ts';
import { post, put } from '../api/http.ts';
import { useLoad } from '../api/load.ts';
import { may } from '../api/session.ts';
import { Field, Select } from '../parts/field.tsx';
import { FormDialog, type FormValues, useDialog } from '../parts/form.tsx';
import { type Column, Table } from '../parts/list.tsx';
import { Card, Loading, PageHead } from '../parts/page.tsx';
import { Badge, Button, counted, Facts, number, percent, Stat, Stats, Time, type Tone } from '../parts/value.tsx';
import type { Key } from './keys.tsx';

const PATH = '/v2/account/limits';

export function LimitsPage() {
  const loaded = useLoad<Limits>(PATH);
  const [dialog, open] = useDialog();
  const ask = (of?: KeyCaps) => open(<CapsDialog known={of} onDone={loaded.reload} />);
  const set = may('manage') && <Button onClick={() => ask()}>Set what a key may spend</Button>;
  return (
    <>
      <PageHead
        title="Limits"
        lead="Sends beyond a limit are refused and cost nothing. Your service provider sets the limits of the account, you those of its keys."
      />
      <Loading of={loaded}>
        {(limits) => (
          <>
            <SpendingStats day={limits.day} month={limits.month} />
            <HoldsCard holds={limits.holds} path="/v2/account" mayRelease={may('manage')} onDone={loaded.reload} />
            <Card title="Whom you may send to">
              <RecipientFacts limits={limits} />
            </Card>
            <Card
              title="What keys may spend"
              lead="A key that is stolen, or a program that runs wild, spends no more than this. The keys that a key makes count for it."
              actions={set}
            >
              {limits.keys.length === 0 ? (
                <p class="soft">No key has a cap of its own.</p>
              ) : (
                <Table
                  caption="Keys with caps"
                  rows={limits.keys}
                  rowKey={({ key_id }) => key_id}
                  columns={[
                    { head: 'Key', cell: ({ name }) => <strong>{name}</strong> },
                    { head: 'Today', cell: ({ day }) => capText(day) },
                    { head: 'This month', cell: ({ month }) => capText(month) },
                  ]}
                  acts={may('manage') && ((row) => [['Change', row.name, () => ask(row)]])}
                />
              )}
            </Card>
          </>
        )}
      </Loading>
      {dialog}
    </>
  );
}

interface CapsDialogProps {
  /** Absent: the form has a field for the key. */
  readonly known: KeyCaps | undefined;
  readonly onDone: () => void;
}

function CapsDialog({ known, onDone }: CapsDialogProps) {
  const send = async (values: FormValues) => {
    await put(`/v2/account/keys/${known?.key_id ?? values.text('key')}/caps`, {
      spend_per_day: values.number('spend_per_day'),
      spend_per_month: values.number('spend_per_month'),
    });
    onDone();
    return 'The caps hold within seconds.';
  };
  return (
    <FormDialog
      title={known ? `What may ${known.name} spend?` : 'What may a key spend?'}
      submit="Set caps"
      of={known && capsOf(known)}
      onSubmit={send}
    >
      {!known && <KeyField />}
      <CapFields />
    </FormDialog>
  );
}

function KeyField() {
  const keys = useLoad<{ readonly data: readonly Key[] }>('/v2/account/keys', { state: 'active', limit: 100 });
  return (
    <Loading of={keys}>
      {({ data }) => <Select name="key" label="Key" options={data.map(({ key_id, name }) => [key_id, name])} />}
    </Loading>
  );
}

interface LimitsCardProps {
  readonly account: string;
  readonly name: string;
}

/** Spending caps and allowed destinations of an account, for operators. */
export function LimitsCard({ account, name }: LimitsCardProps) {
  const path = `/v2/admin/accounts/${account}`;
  const loaded = useLoad<Limits>(`${path}/limits`);
  const [dialog, open] = useDialog();
  const ask = (shown: Limits) =>
    open(
      <FormDialog
        title={`Limits of ${name}`}
        submit="Set limits"
        of={{ ...shown, ...capsOf(shown) }}
        onSubmit={async (values) => {
          const countries = countriesIn(values.text('countries'));
          const { limits } = await put<AnswerOf<typeof setLimits>>(`${path}/limits`, {
            spend_per_day: values.number('spend_per_day'),
            spend_per_month: values.number('spend_per_month'),
            ...(countries.length > 0 && { countries }),
            ...daytimeOf(values),
            recipient_per_hour: values.number('recipient_per_hour'),
            messages_per_conversation: values.number('messages_per_conversation'),
            brake: values.text('brake'),
          });
          loaded.setData(limits);
          return `The limits of ${name} are set.`;
        }}
      >
        <CapFields />
        <Field name="countries" label="Countries" optional>
          Two letters each: IN, AE. Empty: all.
        </Field>
        <DaytimeFields />
        <Field name="recipient_per_hour" label="Messages to one recipient in a clock hour" optional inputMode="numeric">
          Empty: any number.
        </Field>
        <Field
          name="messages_per_conversation"
          label="Messages in a chat-app conversation"
          optional
          inputMode="numeric"
        >
          The first included. It is paid once, and the provider takes money for each. Empty: any number.
        </Field>
        <Select name="brake" label="Traffic that looks like fraud" options={BRAKES}>
          Of a prefix whose messages rise while fewer arrive. It needs three days to know what is usual.
        </Select>
      </FormDialog>,
    );
  const { data } = loaded;
  const change = may('admin:support') && data && <Button onClick={() => ask(data)}>Set limits</Button>;
  return (
    <>
      <Card title="Limits" actions={change}>
        <Loading of={loaded}>
          {(limits) => (
            <>
              <SpendingStats day={limits.day} month={limits.month} />
              <RecipientFacts limits={limits} />
            </>
          )}
        </Loading>
      </Card>
      {data && <HoldsCard holds={data.holds} path={path} mayRelease={may('admin:support')} onDone={loaded.reload} />}
      {dialog}
    </>
  );
}

/** Parts that accounts and operators both see. */

function SpendingStats({ day, month }: Caps) {
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

/** `950 of 5,000` */
function capText({ cap, spent }: Cap): string {
  return cap === null ? 'no cap' : `${number(spent)} of ${number(cap)}`;
}

function RecipientFacts({ limits }: { readonly limits: Limits }) {
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
  /** The API path below which a hold is released. */
  readonly path: string;
  readonly mayRelease: boolean;
  readonly onDone: () => void;
}

/** Renders nothing while no traffic looks like fraud. */
function HoldsCard({ holds, path, mayRelease, onDone }: HoldsProps) {
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
        <Field name="reason" label="Why it is right">
          It stands in the audit.
        </Field>
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

export const PREFIX: Column<Pick<Hold, 'prefix' | 'country'>> = {
  head: 'Numbers',
  cell: ({ prefix, country }) => (
    <>
      <strong>{prefix}…</strong> {country !== null && <span class="soft">{countryName(country)}</span>}
    </>
  ),
};

/** Initial values of `CapFields`. */
function capsOf({ day, month }: Caps) {
  return { spend_per_day: day.cap, spend_per_month: month.cap };
}

/** The daily and the monthly cap. */
function CapFields() {
  return (
    <>
      <Field name="spend_per_day" label="Credits a day" optional inputMode="numeric">
        The most in a day (UTC). Empty: no cap.
      </Field>
      <Field name="spend_per_month" label="Credits a month" optional inputMode="numeric">
        The most in a calendar month (UTC). Empty: no cap.
      </Field>
    </>
  );
}

type Limits = AnswerOf<typeof accountLimits>;
type Caps = Pick<Limits, 'day' | 'month'>;

type Cap = Limits['day'];

export type KeyCaps = Limits['keys'][number];

/** A prefix whose traffic is held because it looks like fraud. */
type Hold = Limits['holds'][number];

const BRAKES: readonly (readonly [Limits['brake'], string])[] = [
  ['off', 'Off'],
  ['watch', 'Watch: show what looks like fraud'],
  ['hold', 'Hold: refuse sends to it until a person releases it'],
];

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' });

function countryName(code: string): string {
  return `${COUNTRY_NAMES.of(code)} (${code})`;
}

/** Hours in which SMS may leave, by the recipient's clock; for accounts and routes. */
export function DaytimeFields() {
  return (
    <fieldset class="field">
      <legend>Daytime of recipients</legend>
      <p class="hint">
        SMS wait outside these hours of the recipient's country, in all of its time zones. OTP are not held. Empty: at
        any time.
      </p>
      <Field name="daytime.from" label="From" optional type="time" />
      <Field name="daytime.to" label="Until" optional type="time" />
      <Field name="daytime.countries" label="Only recipients in these countries" optional>
        Two letters each: IN, AE. Empty: all.
      </Field>
    </fieldset>
  );
}

/** Sent even if one of the two times is missing, so that the gateway says so. */
export function daytimeOf(values: FormValues) {
  const [from, to] = [values.optional('daytime.from'), values.optional('daytime.to')];
  if (from === undefined && to === undefined) return {};
  const countries = countriesIn(values.text('daytime.countries'));
  return { daytime: { from, to, ...(countries.length > 0 && { countries }) } };
}

function countriesIn(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[^A-Z]+/)
    .filter(Boolean);
}
