import type { ComponentChildren } from 'preact';
import { useLoad } from '../../api/load.ts';
import { Badge } from '../../parts/badge.tsx';
import { CopyId } from '../../parts/copy.tsx';
import { calledOf } from '../../parts/customer.ts';
import { Facts } from '../../parts/facts.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Card, Loading, PageHead } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Words } from '../../parts/words.tsx';
import type { PageProps } from '../../router/page.ts';
import type { Webhook } from '../webhooks/webhook.ts';
import { useFollowedMessage } from './followed-message.ts';
import { messageHref, STATUS_TONES, type WholeMessage } from './message.ts';
import { Resend } from './resend.tsx';
import { Timeline } from './timeline.tsx';

/** Everything that is known of one message. */
export function MessagePage({ params }: PageProps) {
  const id = params.message_id ?? '';
  const message = useFollowedMessage<WholeMessage>(`/v2/messages/${encodeURIComponent(id)}`, id);
  return (
    <>
      <PageHead
        title="Message"
        lead={<CopyId id={id} />}
        back={{ href: '/dashboard/messages', label: 'Messages' }}
        actions={message.data && <Resend message={message.data} />}
      />
      <Loading of={message}>{(data) => <Whole message={data} />}</Loading>
    </>
  );
}

function Whole({ message }: { readonly message: WholeMessage }) {
  const { explanation, timeline, parts = [], webhooks, repeats = [] } = message;
  return (
    <>
      {repeats.length > 0 && (
        <Notice tone="warn">
          <strong>The same text went to this number more than once within a minute, and each was charged:</strong>{' '}
          <MessageLinks ids={repeats} />. An Idempotency-Key on requests prevents that.
        </Notice>
      )}
      {explanation && (
        <Notice tone={STATUS_TONES[message.status] === 'bad' ? 'bad' : 'warn'}>
          <strong>{explanation.cause}</strong>
          <Since explanation={explanation} /> <Words text={explanation.advice} />
        </Notice>
      )}
      <Text message={message} />
      <div class="columns">
        <Card title="Facts">
          <Facts facts={factsOf(message)} />
        </Card>
        <Card title="Timeline">
          <Timeline entries={timeline} />
        </Card>
      </div>
      {parts.length > 0 && (
        <Card title="Segments">
          <Table
            caption="Segments"
            rows={parts}
            rowKey={(part) => String(part.number)}
            columns={[
              { head: 'Segment', cell: (part) => part.number, kind: 'number' },
              { head: 'Status', cell: (part) => part.state },
              { head: "Carrier's id", cell: (part) => part.carrier_message_id ?? '' },
              { head: 'Error', cell: (part) => part.error ?? '' },
            ]}
          />
        </Card>
      )}
      {webhooks.length > 0 && <Webhooks message={message} />}
    </>
  );
}

function MessageLinks({ ids }: { readonly ids: readonly string[] }) {
  return (
    <>
      {ids.map((id, at) => (
        <>
          {at > 0 && ', '}
          <a key={id} href={messageHref(id)}>
            {id}
          </a>
        </>
      ))}
    </>
  );
}

/** Each event for each webhook, which is called by its address. */
function Webhooks({ message }: { readonly message: WholeMessage }) {
  const own = useLoad<{ readonly data: readonly Pick<Webhook, 'webhook_id' | 'url'>[] }>('/v2/account/webhooks').data
    ?.data;
  const nameOf = (id: string) => own?.find(({ webhook_id: one }) => one === id)?.url ?? id;
  return (
    <Card title="Webhooks">
      <Table
        caption="Webhooks"
        rows={message.webhooks}
        rowKey={({ event_id, webhook_id }) => event_id + webhook_id}
        columns={[
          { head: 'Event', cell: ({ event }) => event },
          {
            head: 'Webhook',
            cell: ({ webhook_id: id }) => (
              <a href={`/dashboard/webhooks/${id}?message_id=${message.message_id}`}>{nameOf(id)}</a>
            ),
          },
          { head: 'Status', cell: ({ state }) => (state === 'done' ? 'delivered' : state) },
          { head: 'Attempts', cell: ({ attempts }) => attempts, kind: 'number' },
        ]}
      />
    </Card>
  );
}

function Since({ explanation: { since, until } }: { readonly explanation: NonNullable<WholeMessage['explanation']> }) {
  return (
    <>
      {since && (
        <>
          {' '}
          Since <Time at={since} full />.
        </>
      )}
      {until && (
        <>
          {' '}
          Until <Time at={until} full />.
        </>
      )}
    </>
  );
}

const NOT_SHOWN = {
  whole: undefined,
  masked: 'Numbers of four digits and more are masked for your role.',
  hidden: 'The account does not show you its texts.',
  removed: 'The text is no longer kept.',
} as const;

function Text({ message }: { readonly message: WholeMessage }) {
  const { text, params, text_shown: shown, verification_id: verification } = message;
  if (shown === undefined) return null;
  const hasCode = verification !== undefined && shown === 'masked';
  const note = hasCode ? 'It has the code of a verification, which is shown to nobody.' : NOT_SHOWN[shown];
  return (
    <Card title={params ? 'Values of the template' : 'Text'}>
      {text && <p class="message-text">{text}</p>}
      {params && params.length > 0 && <p class="message-text">{params.join(', ')}</p>}
      {shown === 'whole' && !text && !params?.length && <p class="soft">It has no text.</p>}
      {note && <p class="small soft">{note}</p>}
    </Card>
  );
}

/** `utility, regular, billed (PMP)`. */
function priceWords({ billable, model, type, category }: NonNullable<WholeMessage['pricing']>): string {
  const billed = billable === undefined ? undefined : billable ? 'billed' : 'free';
  const said = [category, type, billed]
    .filter((word) => word !== undefined)
    .join(', ')
    .replaceAll('_', ' ');
  return model === undefined ? said : `${said} (${model})`;
}

function FallbackFact({ fallback }: { readonly fallback: NonNullable<WholeMessage['fallback']> }) {
  const { state, due_at: due, message_id: sms, error_reason: reason } = fallback;
  if (sms !== undefined) return <a href={messageHref(sms)}>an SMS went in its place</a>;
  if (due !== undefined) {
    return (
      <>
        an SMS goes at <Time at={due} full />
      </>
    );
  }
  if (state === 'refused') return `no SMS went: ${reason}`;
  return state === 'going' ? 'an SMS is about to go' : 'no SMS is needed any more';
}

type Fact = readonly [name: string, value: ComponentChildren];

function factsOf(message: WholeMessage): readonly Fact[] {
  const { status, channel, direction, batch_id: batch, error_code: code, error_reason: reason } = message;
  const all: readonly Fact[] = [
    ['Status', <Badge tone={STATUS_TONES[status]}>{status}</Badge>],
    ['Channel', channel === 'sms' ? 'SMS' : 'Chat-app'],
    direction === 'in' ? ['From', message.from ?? 'unknown'] : ['Sender', message.sender ?? message.from],
    ['To', message.to],
    [
      'Customer',
      message.customer && <a href={`/dashboard/inbox/${message.customer.id}`}>{calledOf(message.customer)}</a>,
    ],
    ['Type', message.type],
    ['Accepted', <Time at={message.created_at} full />],
    ['Delivered', message.delivered_at && <Time at={message.delivered_at} full />],
    ['Valid until', message.valid_until && <Time at={message.valid_until} full />],
    ['Route', message.route],
    ['Carrier', message.carrier],
    ['Operator', message.operator],
    ['Segments', message.segments && `${message.segments}${message.encoding ? `, ${message.encoding}` : ''}`],
    ['Template', message.template],
    ['Held back', message.held_back?.replaceAll('_', ' ')],
    ['Provider’s price', message.pricing && priceWords(message.pricing)],
    ['Cost', message.cost],
    ['Error', code && `${code}${reason ? `: ${reason}` : ''}`],
    ['Reference', message.reference],
    ['Verification', message.verification_id && <CopyId id={message.verification_id} />],
    ['If it does not arrive', message.fallback && <FallbackFact fallback={message.fallback} />],
    ['In place of', message.fallback_of && <a href={messageHref(message.fallback_of)}>a chat-app message</a>],
    ['Answers', message.reply_to && <a href={messageHref(message.reply_to)}>another message</a>],
    ['Repeats', message.resend_of && <a href={messageHref(message.resend_of)}>an earlier message</a>],
    ['Repeated by', message.resent_as && <MessageLinks ids={message.resent_as} />],
    ['Batch', batch && <a href={`/dashboard/batches/${batch}`}>{batch}</a>],
  ];
  return all.filter(([, value]) => value !== undefined && value !== null);
}
