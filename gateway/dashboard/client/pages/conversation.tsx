import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { create, looking, queryText } from '../api/http.ts';
import { useLive } from '../api/live.ts';
import { type Listed, type Loaded, useLoad, usePages } from '../api/load.ts';
import { may, session } from '../api/session.ts';
import { type Customer, calledOf, type InboxMessage, ourNumberOf } from '../parts/chat.ts';
import { useChatNumbers } from '../parts/chat-numbers.ts';
import { TextArea } from '../parts/field.tsx';
import { Form, type FormValues, toast, toastProblem } from '../parts/form.tsx';
import { useUrlFilter } from '../parts/list.tsx';
import { Card, Empty, Loading, PageHead, type PageProps, Problem, Skeleton } from '../parts/page.tsx';
import { Badge, Button, exactTime, Time } from '../parts/value.tsx';
import { isOpen, SessionBadge } from './inbox.tsx';
import { ChatTemplateFields, chatTemplateOf } from './send-chat.tsx';

export function ConversationPage({ params: { customer = '' } }: PageProps) {
  const path = `/v2/account/inbox/${encodeURIComponent(customer)}`;
  const { number } = useUrlFilter('number').values;
  const head: Loaded<Customer> = useLoad<Customer>(path, { limit: 1, number: number || undefined });
  const list = usePages<InboxMessage>(path, { number: number || undefined });
  const reload = () => {
    head.reload();
    list.reload();
  };
  const { to = customer, aliases = [] } = head.data ?? {};
  const [quoted, setQuoted] = useState<InboxMessage>();
  const acts: BubbleActs = {
    quote: setQuoted,
    react: async (message, emoji) => {
      const from = ourNumberOf(message);
      await create('/v2/chatapp/send-reaction', {
        ...{ to, message_id: message.message_id, emoji },
        ...(from !== null && { from }),
      });
      toast('Reaction sent.');
      reload();
    },
  };
  useFollowed([to, ...aliases], () => {
    head.follow();
    list.follow();
  });
  return (
    <>
      <PageHead
        title={head.data === undefined ? customer : calledOf(head.data.customer)}
        back={{ href: '/dashboard/inbox', label: 'Inbox' }}
      />
      <Loading of={head}>
        {(data) => (
          <>
            <p class="conversation-head">
              <SessionBadge customer={data} /> <Paid customer={data} />
              {data.marketing_stopped_at !== null && (
                <Badge tone="warn">No marketing, since {exactTime(data.marketing_stopped_at)}</Badge>
              )}
              {data.aliases.length > 0 && <span class="soft"> Also known as {data.aliases.join(', ')}.</span>}
            </p>
            <Messages list={list} acts={may('send') && isOpen(data) ? acts : undefined} />
            {may('send') && (
              <Answer customer={data} quoted={quoted} onUnquote={() => setQuoted(undefined)} onSent={reload} />
            )}
          </>
        )}
      </Loading>
    </>
  );
}

/** Oldest first; scrolled to the newest, above the answer box. */
function Messages({ list, acts }: { readonly list: Listed<InboxMessage>; readonly acts: BubbleActs | undefined }) {
  const { rows, problem, retry, hasMore, hasNews, isLoadingMore, loadMore, reload } = list;
  const box = useRef<HTMLElement>(null);
  const height = useRef(0);
  const newest = rows?.[0]?.message_id;
  const oldest = rows?.at(-1)?.message_id;
  useLayoutEffect(() => {
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [newest]);
  // Keep the visible messages in place when earlier ones are added above.
  useLayoutEffect(() => {
    const now = box.current?.scrollHeight ?? 0;
    if (box.current !== null && height.current > 0) box.current.scrollTop += now - height.current;
    height.current = now;
  }, [oldest]);
  return (
    <>
      {problem && <Problem problem={problem} retry={retry} />}
      {rows === undefined && problem === undefined && <Skeleton />}
      {rows?.length === 0 && <Empty icon="chat">The messages are not kept any more.</Empty>}
      {rows !== undefined && rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard.
        <section ref={box} class="conversation" tabIndex={0} aria-label="Messages">
          {hasMore && (
            <div class="pager">
              <Button onClick={loadMore} busy={isLoadingMore}>
                Load earlier ones
              </Button>
            </div>
          )}
          <ol class="bubbles" aria-label="Messages, the newest last">
            {rows.toReversed().map((message) => (
              <Bubble
                key={message.message_id}
                message={message}
                answered={rows.find((one) => one.message_id === message.reply_to)}
                acts={acts}
              />
            ))}
          </ol>
          {hasNews && (
            <div class="pager">
              <Button onClick={reload}>Show what is new</Button>
            </div>
          )}
        </section>
      )}
    </>
  );
}

function Paid({ customer: { conversation } }: { readonly customer: Customer }) {
  return (
    <span class="soft">
      {conversation === null
        ? 'The next message opens a conversation and is charged.'
        : `Messages cost nothing more until ${exactTime(conversation.until)}.`}
    </span>
  );
}

/** Reads again when a message with this customer changes or any customer writes, not at other news. */
function useFollowed(names: readonly string[], follow: () => void): void {
  const newest = useLive<{ readonly data: readonly InboxMessage[] }>('messages')?.data;
  const news = newest
    ?.filter(({ to, from }) => names.some((name) => name === to || name === from))
    .map(({ message_id, status }) => `${message_id} ${status}`)
    .join(',');
  const wrote = useLive<{ readonly message_id: string | null }>('inbox')?.message_id;
  useEffect(() => {
    if (wrote || news) follow();
  }, [wrote, news]);
}

interface BubbleProps {
  readonly message: InboxMessage;
  /** The message that this one answers or reacts to, if it is loaded. */
  readonly answered?: InboxMessage | undefined;
  /** Absent outside the session, when no free-form message may be sent. */
  readonly acts?: BubbleActs | undefined;
}

interface BubbleActs {
  readonly quote: (message: InboxMessage) => void;
  readonly react: (message: InboxMessage, emoji: string) => Promise<void>;
}

/** The first suggestions of WhatsApp itself. */
const EMOJIS = ['👍', '❤️', '🙏'];

function Bubble({ message, answered, acts }: BubbleProps) {
  const { message_id, direction, created_at, status, error_reason, group_id, choices = [] } = message;
  return (
    <li class={`bubble ${direction}`}>
      <span class="hidden">{direction === 'in' ? 'Customer' : 'You'}: </span>
      {answered && <p class="quoted">“{inWords(answered)}”</p>}
      <p>{inWords(message)}</p>
      {choices.length > 0 && (
        <ul class="choices" aria-label="To choose from">
          {choices.map((choice) => (
            <li key={choice}>{choice}</li>
          ))}
        </ul>
      )}
      {direction === 'in' && looking.value === undefined && <FileLink message={message} />}
      <footer>
        <Time at={created_at} />
        {group_id !== undefined && ' in a group'}
        {direction === 'out' && (
          <>
            {' '}
            <a href={`/dashboard/messages/${message_id}`}>{status}</a> {error_reason}
          </>
        )}
        {acts && canBeAnswered(message) && <Acts message={message} acts={acts} />}
      </footer>
    </li>
  );
}

/** The provider must have the message: the customer wrote it, or the provider accepted it. */
function canBeAnswered({ direction, status, group_id, type }: InboxMessage): boolean {
  if (type === 'reaction') return false;
  return direction === 'in' ? group_id === undefined : status !== 'queued' && status !== 'rejected';
}

function Acts({ message, acts: { quote, react } }: { readonly message: InboxMessage; readonly acts: BubbleActs }) {
  return (
    <span class="acts">
      <Button look="quiet" onClick={() => quote(message)}>
        Quote
      </Button>
      {EMOJIS.map((emoji) => (
        <Button
          key={emoji}
          look="quiet"
          aria-label={`React with ${emoji}`}
          onClick={() => react(message, emoji).catch(toastProblem)}
        >
          {emoji}
        </Button>
      ))}
    </span>
  );
}

const WITH_FILE = ['image', 'video', 'audio', 'voice', 'document', 'sticker'];

/** Images, audio and video open in a new tab that runs no scripts; other files are downloaded. */
function FileLink({ message: { message_id, type = '' } }: { readonly message: InboxMessage }) {
  if (!WITH_FILE.includes(type)) return null;
  const query = queryText({ user: session.value?.user.user_id });
  return (
    <p>
      <a href={`/v2/chatapp/media/${message_id}${query}`} target="_blank" rel="noopener noreferrer">
        Open the {type}
      </a>
    </p>
  );
}

function inWords(message: InboxMessage): string {
  return message.direction === 'in' ? said(message) : sent(message);
}

function said({ type, body, body_cut }: InboxMessage): string {
  if (body === undefined || body === '') return `(${type ?? 'no text'})`;
  return body_cut ? `${body}…` : body;
}

function sent({ type, template, language, params = [], body, body_cut }: InboxMessage): string {
  if (template !== undefined)
    return `Template ${template} (${language})${params.length > 0 ? `: ${params.join(', ')}` : ''}`;
  if (body === undefined) return `(${type ?? 'message'})`;
  return `${PLAIN.includes(type ?? '') ? '' : `(${type}) `}${body}${body_cut ? '…' : ''}`;
}

/** Types that need no label before their content. */
const PLAIN = ['text', 'buttons', 'list', 'reaction'];

interface AnswerProps {
  readonly customer: Customer;
  readonly quoted?: InboxMessage | undefined;
  readonly onUnquote: () => void;
  readonly onSent: () => void;
}

/** A free-form answer, or a template outside the session. */
function Answer({ customer, quoted, onUnquote, onSent }: AnswerProps) {
  const [text, setText] = useState('');
  if (!isOpen(customer)) {
    return (
      <Card
        title="Send a template"
        lead="The session is closed: more than 24 hours have passed since the customer wrote."
      >
        <TemplateForm customer={customer} onSent={onSent} />
      </Card>
    );
  }
  const send = async () => {
    const from = quoted ? ourNumberOf(quoted) : customer.number;
    await create('/v2/chatapp/send-text', {
      ...{ to: customer.to, message: text },
      ...(from !== null && { from }),
      ...(quoted && { reply_to: quoted.message_id }),
    });
    setText((now) => (now === text ? '' : now)); // The user may have typed on meanwhile.
    toast('Answer sent.');
    onUnquote();
    onSent();
  };
  return (
    <Card title="Answer">
      {quoted && (
        <p class="quoted">
          Answers “{inWords(quoted)}”{' '}
          <Button look="quiet" onClick={onUnquote}>
            Answer without it
          </Button>
        </p>
      )}
      <Form submit="Send answer" onSubmit={send} sendsAgain>
        <TextArea name="message" label="Your answer" rows={3} value={text} onInput={setText} />
      </Form>
    </Card>
  );
}

/** Sends an approved template from the number that the customer wrote to, if the account still has it. */
function TemplateForm({ customer: { to, number: written }, onSent }: Pick<AnswerProps, 'customer' | 'onSent'>) {
  const [sent, setSent] = useState(0);
  const numbers = useChatNumbers();
  const { number: from, business_id: business } = numbers.find(({ number }) => number === written) ?? numbers[0] ?? {};
  const send = async (values: FormValues) => {
    await create('/v2/chatapp/send', { to, ...(from !== undefined && { from }), ...chatTemplateOf(values) });
    setSent((count) => count + 1);
    toast('Template sent.');
    onSent();
  };
  return (
    <Form submit="Send template" onSubmit={send} sendsAgain>
      <ChatTemplateFields business={business} sent={sent} />
    </Form>
  );
}
