import { useEffect, useState } from 'preact/hooks';
import { useLive } from '../../api/live.ts';
import { usePages } from '../../api/pages.ts';
import { may } from '../../api/session.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { optionsOf, useChatNumbers } from '../../parts/chat-numbers.ts';
import { Empty, NoResults } from '../../parts/empty.tsx';
import { FilterBar, FilterSelect, FilterText } from '../../parts/filter.tsx';
import { PageHead } from '../../parts/page.tsx';
import { type Column, PagedTable } from '../../parts/table.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { useUrlFilter } from '../../parts/url-filter.ts';
import { ChatForm } from './chat-form.tsx';
import { ChatPanel } from './chat-panel.tsx';
import { ChatState } from './chat-state.tsx';
import { CHAT_STATES, CHAT_TEMPLATES_PATH, type ChatTemplate, QUALITY } from './chat-template.ts';
import { TABS } from './template.ts';

/** Templates of the chat-app channel, as the provider has them and as they were asked for. */
export function ChatTemplatesPage() {
  const filter = useUrlFilter('from', 'state', 'language');
  const numbers = useChatNumbers();
  const isOneBusiness = new Set(numbers.map(({ business_id }) => business_id)).size < 2;
  const list = usePages<ChatTemplate>(CHAT_TEMPLATES_PATH, filter.values);
  const [open, setOpen] = useState<'new' | ChatTemplate>();
  const counted = JSON.stringify(useLive('chat_templates'));
  // The provider has decided, or the list of the provider was read.
  useEffect(() => list.follow(), [counted]);
  const close = () => setOpen(undefined);
  const changed = () => {
    close();
    list.reload();
  };
  const ask = may('manage') && (
    <Button look="primary" icon="plus" onClick={() => setOpen('new')}>
      Request template
    </Button>
  );
  return (
    <>
      <PageHead
        title="Templates"
        lead="Messages that you may send to a customer who did not write in the last 24 hours. The review takes 24 to 48 hours."
        actions={ask}
      />
      <Tabs label="Channels" tabs={TABS} />
      <FilterBar filter={filter}>
        {(!isOneBusiness || filter.values.from !== '') && (
          <FilterSelect filter={filter} name="from" label="For number" options={optionsOf(numbers)} />
        )}
        <FilterSelect filter={filter} name="state" label="Status" options={CHAT_STATES} />
        <FilterText filter={filter} name="language" label="Language" placeholder="en_US" />
      </FilterBar>
      <PagedTable
        list={list}
        caption="Chat-app templates"
        rowKey={({ business_id, name, language }) => `${business_id}:${name}:${language}`}
        empty={
          filter.isSet ? (
            <NoResults clear={filter.clear} />
          ) : (
            <Empty icon="chat" action={ask}>
              No chat-app templates yet. Request one: the provider reviews it.
            </Empty>
          )
        }
        columns={[
          {
            head: 'Template',
            cell: (row) => (
              <button type="button" class="row-link" onClick={() => setOpen(row)}>
                {row.name}
              </button>
            ),
          },
          ...(isOneBusiness ? [] : [BUSINESS]),
          { head: 'Language', cell: ({ language }) => language },
          { head: 'Category', cell: ({ category }) => category },
          { head: 'Status', cell: (row) => <ChatState of={row} /> },
          { head: 'Quality', cell: ({ quality }) => <Quality of={quality} /> },
        ]}
      />
      {open === 'new' && <ChatForm onClose={close} onDone={changed} />}
      {typeof open === 'object' && <ChatPanel of={open} onClose={close} onChange={changed} />}
    </>
  );
}

const BUSINESS: Column<ChatTemplate> = {
  head: 'Business account',
  cell: ({ business_id }) => <code>{business_id}</code>,
};

function Quality({ of }: { readonly of: string | null }) {
  const known = QUALITY[of ?? ''];
  return known === undefined ? <span class="soft">–</span> : <Badge tone={known[1]}>{known[0]}</Badge>;
}
