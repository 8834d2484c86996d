import { useState } from 'preact/hooks';
import { post } from '../../api/http.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts, Stat, Stats } from '../../parts/facts.tsx';
import { Field } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { counted, number } from '../../parts/number.ts';
import { Card } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { BRAKES, type Cap, type Caps, countryName, type Hold, type Limits, percent } from './limits.ts';

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
  const [asked, setAsked] = useState<Hold>();
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
          {
            head: 'Numbers',
            cell: ({ prefix, country }) => (
              <>
                <strong>{prefix}…</strong> {country !== null && <span class="soft">{countryName(country)}</span>}
              </>
            ),
          },
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
          ...(mayRelease
            ? [
                {
                  head: 'Actions',
                  kind: 'actions' as const,
                  cell: (row: Hold) =>
                    row.state === 'held' && (
                      <Button look="quiet" onClick={() => setAsked(row)}>
                        Release <span class="hidden">{row.prefix}</span>
                      </Button>
                    ),
                },
              ]
            : []),
        ]}
      />
      {asked && (
        <Dialog title={`Release ${asked.prefix}?`} onClose={() => setAsked(undefined)}>
          <p class="prose">
            Sends to numbers that begin with {asked.prefix} are accepted again within seconds, and are trusted for a
            week. Look first who asks for these messages.
          </p>
          <Form
            submit="Release traffic"
            look="danger"
            onCancel={() => setAsked(undefined)}
            onSubmit={async (values) => {
              await post(`${path}/traffic-holds/${asked.prefix}/release`, { reason: values.text('reason') });
              toast(`Numbers that begin with ${asked.prefix} are sent to again.`);
              onDone();
              setAsked(undefined);
            }}
          >
            <Field name="reason" label="Why it is right" hint="It stands in the audit." />
          </Form>
        </Dialog>
      )}
    </Card>
  );
}

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
