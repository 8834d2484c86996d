import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { create } from '../api/http.ts';
import { useLive } from '../api/live.ts';
import { type Loaded, useLoad, useReadAgain } from '../api/load.ts';
import { may } from '../api/session.ts';
import { CHANNEL_WORDS } from '../parts/channel.ts';
import { calledOf } from '../parts/chat.ts';
import { Confirm, useDialog } from '../parts/form.tsx';
import { Table } from '../parts/list.tsx';
import { Card, Loading, Notice, PageHead, type PageProps } from '../parts/page.tsx';
import { Badge, Button, CopyId, counted, type Fact, Facts, Time, Words } from '../parts/value.tsx';
import { type Happening, type Message, messageHref, STATUS_TONES, type WholeMessage } from './messages.tsx';
import type { Webhook } from './webhooks.tsx';

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

function factsOf(message: WholeMessage): readonly Fact[] {
  const { status, channel, direction, batch_id: batch, error_code: code, error_reason: reason } = message;
  return [
    ['Status', <Badge tone={STATUS_TONES[status]}>{status}</Badge>],
    ['Channel', CHANNEL_WORDS[channel]],
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
}

/** The message's history, with carriers' words quoted as they came. */
function Timeline({ entries }: { readonly entries: readonly Happening[] }) {
  return (
    <ol class="timeline">
      {entries.map((entry, index) => (
        <li key={index}>
          <Time at={entry.at} full="seconds" />
          <div>
            {entry.message_id && 'SMS: '}
            {wordsOf(entry)}
            {entry.raw?.text && <code class="raw">{entry.raw.text}</code>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Links to the line of the statement. */
function Paid({ words, entry }: { readonly words: string; readonly entry: Happening }) {
  const { credits, change_id: change, ledger_seq: seq } = entry;
  return (
    <>
      {words} {counted(credits ?? 0, 'credit')}
      {change !== undefined && (
        <>
          {': '}
          <a href={`/dashboard/credits?change_id=${change}`}>line {seq} of the statement</a>
        </>
      )}
    </>
  );
}

function wordsOf(entry: Happening): ComponentChildren {
  const say = WORDS[entry.what];
  return say === undefined ? entry.what : say(entry);
}

const WORDS: Readonly<Record<string, (entry: Happening) => ComponentChildren>> = {
  accepted: () => 'Accepted',
  template: ({ template_id: id, template }) => `Matches the template ${id ?? template ?? ''}`,
  path: ({ path }) => `Routed as ${path}`,
  paid: (entry) => <Paid words="Paid with" entry={entry} />,
  refunded: (entry) => <Paid words="Refunded" entry={entry} />,
  taken: ({ carrier }) => (carrier === undefined ? 'Taken to be sent' : `Taken to be sent by ${carrier}`),
  state: ({ status, error_reason: reason }) =>
    status === 'fallback' ? (
      <strong>{reason ? `No SMS went: ${reason}` : 'The SMS goes in its place'}</strong>
    ) : (
      <strong>{status}</strong>
    ),
  fallback: ({ because }) =>
    because === 'failed' ? 'It failed: an SMS is to go in its place' : 'Its time is over: an SMS is to go in its place',
  answer: ({ carrier, outcome, error_code: code, error_reason: reason }) =>
    `${carrier ?? 'The provider'} answered: ${[outcome, code, reason].filter(Boolean).join(', ')}`,
  receipt: ({ carrier, status, error_code: code, error_reason: reason, result }) =>
    `Receipt of ${carrier ?? 'the provider'}: ${[status, code, reason, result === 'failover' && 'so the next carrier is asked'].filter(Boolean).join(', ')}`,
  policy: ({ became }) => `No answer came in time: it became ${became}`,
  webhook: ({ event, result, duration_ms: ms }) => `Webhook ${event}: ${result} after ${ms} ms`,
};

const BEWARE: Partial<Record<WholeMessage['status'], string>> = {
  delivered: 'The first one was delivered: the recipient gets the text twice.',
  sent: 'The first one may still arrive: then the recipient gets the text twice.',
};

/** Not for waiting messages, as both would arrive, nor for verification codes. */
function Resend({ message }: { readonly message: WholeMessage }) {
  const [dialog, open] = useDialog();
  const { route } = useLocation();
  const { channel, direction, status, text_shown: shown, verification_id: code, message_id: id, to } = message;
  if (!may('send') || channel !== 'sms' || direction === 'in' || status === 'queued') return null;
  if (shown === 'removed' || code !== undefined) return null;
  const ask = () =>
    open(
      <Confirm
        title={`Send it to ${to} again?`}
        act="Send again"
        onConfirm={async () => {
          const sent = await create<{ message_id: string }>(`/v2/messages/${id}/resend`, {});
          route(messageHref(sent.message_id));
          return 'Sent again, as a new message.';
        }}
      >
        A new message with the same text, sender and route. It is charged like any other. {BEWARE[status] ?? ''}
      </Confirm>,
    );
  return (
    <>
      <Button icon="send" onClick={ask}>
        Send again
      </Button>
      {dialog}
    </>
  );
}

/** Loads `path` and reloads when the message's state changes. Live events cover only the newest messages. */
export function useFollowedMessage<T extends Pick<Message, 'status'>>(path: string, id: string): Loaded<T> {
  const message = useLoad<T>(path);
  const newest = useLive<{ readonly data: readonly Message[] }>('messages');
  const status = newest?.data.find(({ message_id }) => message_id === id)?.status;
  const { follow } = message;
  const shown = message.data?.status;
  useEffect(() => {
    if (status !== undefined && shown !== undefined && status !== shown) follow();
  }, [status, shown, follow]);
  useReadAgain(message, isOpen);
  return message;
}

function isOpen({ status }: Pick<Message, 'status'>): boolean {
  return status === 'queued' || status === 'sent';
}
