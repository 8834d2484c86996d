import { useEffect } from 'preact/hooks';
import { useLive } from '../../api/live.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loading, PageHead } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { exactTime } from '../../parts/time.tsx';
import type { PageProps } from '../../router/page.ts';
import { Answer } from './answer.tsx';
import { Bubble } from './bubble.tsx';
import type { Customer, InboxMessage } from './customer.ts';
import { SessionBadge } from './session-badge.tsx';

/** The messages to and from one customer, and a box to answer. */
export function ConversationPage({ params: { customer = '' } }: PageProps) {
  const path = `/v2/account/inbox/${encodeURIComponent(customer)}`;
  const head: Loaded<Customer> = useLoad<Customer>(path, { limit: 1 });
  const list = usePages<InboxMessage>(path);
  const reload = () => {
    head.reload();
    list.reload();
  };
  const aliases = head.data?.aliases ?? [];
  useFollowed([customer, ...aliases], () => {
    head.follow();
    list.follow();
  });
  return (
    <>
      <PageHead title={customer} back={{ href: '/dashboard/inbox', label: 'Inbox' }} />
      <Loading of={head}>
        {(data) => (
          <>
            <p class="conversation-head">
              <SessionBadge customer={data} /> <Paid customer={data} />
              {data.aliases.length > 0 && <span class="soft"> Also writes as {data.aliases.join(', ')}.</span>}
            </p>
            <Paged list={list} empty={<Empty icon="chat">The messages are not kept any more.</Empty>}>
              {(messages) => (
                <ol class="bubbles" aria-label="Messages, the newest first">
                  {messages.map((message) => (
                    <Bubble key={message.message_id} message={message} />
                  ))}
                </ol>
              )}
            </Paged>
            {may('send') && <Answer customer={data} onSent={reload} />}
          </>
        )}
      </Loading>
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
