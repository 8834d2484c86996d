import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { create } from '../../api/http.ts';
import { useLive } from '../../api/live.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import { type Listed, usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { calledOf } from '../../parts/customer.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loading, PageHead } from '../../parts/page.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { exactTime } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import type { PageProps } from '../../router/page.ts';
import { Answer } from './answer.tsx';
import { Bubble, type BubbleActs } from './bubble.tsx';
import { type Customer, type InboxMessage, ourNumberOf } from './customer.ts';
import { isOpen, SessionBadge } from './session-badge.tsx';

/** The messages to and from one customer, and a box to answer. */
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

/** From above downwards, as one reads; the newest ones are in view, above the box for the answer. */
function Messages({ list, acts }: { readonly list: Listed<InboxMessage>; readonly acts: BubbleActs | undefined }) {
  const { rows, problem, retry, hasMore, hasNews, isLoadingMore, loadMore, reload } = list;
  const box = useRef<HTMLElement>(null);
  const height = useRef(0);
  const newest = rows?.[0]?.message_id;
  const oldest = rows?.at(-1)?.message_id;
  useLayoutEffect(() => {
    box.current?.scrollTo(0, box.current.scrollHeight);
  }, [newest]);
  // Earlier ones appear above what one reads, which stays where it is.
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

/** Reads again when something is new of this customer, or somebody wrote. A busy account has other news every second. */
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
