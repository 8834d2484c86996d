import { useEffect, useState } from 'preact/hooks';
import { queryText, remove } from '../api/http.ts';
import { useLive } from '../api/live.ts';
import { usePages } from '../api/load.ts';
import { may } from '../api/session.ts';
import { optionsOf, useChatNumbers } from '../parts/chat-numbers.ts';
import { Confirm, Dialog, useDialog } from '../parts/form.tsx';
import { type Column, FilterSelect, FilterText, ListPage, RowLink, useUrlFilter } from '../parts/list.tsx';
import { Tabs } from '../parts/page.tsx';
import { AddButton, Badge, Button, Facts, Time } from '../parts/value.tsx';
import {
  CHAT_STATES,
  CHAT_TEMPLATES_PATH,
  type ChatTemplate,
  EDITABLE,
  filled,
  isOfTheForm,
  Phone,
  placeholderOf,
  QUALITY,
  wordsOf,
} from './chat-template.tsx';
import { ChatForm } from './chat-template-form.tsx';
import { TABS } from './templates.tsx';

export function ChatTemplatesPage() {
  const filter = useUrlFilter('from', 'state', 'language');
  const numbers = useChatNumbers();
  const isOneBusiness = new Set(numbers.map(({ business_id }) => business_id)).size < 2;
  const list = usePages<ChatTemplate>(CHAT_TEMPLATES_PATH, filter.values);
  const [open, setOpen] = useState<'new' | ChatTemplate>();
  const counted = JSON.stringify(useLive('chat_templates'));
  // The provider has decided, or its list was read.
  useEffect(() => list.follow(), [counted]);
  const close = () => setOpen(undefined);
  const changed = () => {
    close();
    list.reload();
  };
  return (
    <ListPage
      title="Templates"
      lead="Messages that you may send to a customer who did not write in the last 24 hours. The review takes 24 to 48 hours."
      next={may('manage') && <AddButton onClick={() => setOpen('new')}>Request template</AddButton>}
      list={list}
      filter={filter}
      filters={
        <>
          {(!isOneBusiness || filter.values.from !== '') && (
            <FilterSelect filter={filter} name="from" label="For number" options={optionsOf(numbers)} />
          )}
          <FilterSelect filter={filter} name="state" label="Status" options={CHAT_STATES} />
          <FilterText filter={filter} name="language" label="Language" placeholder="en_US" />
        </>
      }
      caption="Chat-app templates"
      rowKey={({ business_id, name, language }) => `${business_id}:${name}:${language}`}
      icon="chat"
      empty="No chat-app templates yet. Request one: the provider reviews it."
      columns={[
        { head: 'Template', cell: (row) => <RowLink onClick={() => setOpen(row)}>{row.name}</RowLink> },
        ...(isOneBusiness ? [] : [BUSINESS]),
        { head: 'Language', cell: ({ language }) => language },
        { head: 'Category', cell: ({ category }) => category },
        { head: 'Status', cell: (row) => <ChatState of={row} /> },
        { head: 'Quality', cell: ({ quality }) => <Quality of={quality} /> },
      ]}
      after={
        <>
          {open === 'new' && <ChatForm onClose={close} onDone={changed} />}
          {typeof open === 'object' && <ChatPanel of={open} onClose={close} onChange={changed} />}
        </>
      }
    >
      <Tabs label="Channels" tabs={TABS} />
    </ListPage>
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

interface ChatPanelProps {
  readonly of: ChatTemplate;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function ChatPanel({ of, onClose, onChange }: ChatPanelProps) {
  const [edits, setEdits] = useState(false);
  const [dialog, open] = useDialog();
  const numbers = useChatNumbers();
  const from = numbers.find(({ business_id }) => business_id === of.business_id)?.number;
  // Another business account may have a template of the same name.
  const path = `${CHAT_TEMPLATES_PATH}/${of.name}/${of.language}${queryText({ from })}`;
  if (edits) return <ChatForm edits={{ of, path }} onClose={() => setEdits(false)} onDone={onChange} />;
  const drop = () =>
    open(
      <Confirm
        title={`Delete ${of.name} in ${of.language}?`}
        act="Delete template"
        typed={of.name}
        onConfirm={async () => {
          const { message } = await remove<{ message: string }>(path);
          onChange();
          return message;
        }}
      >
        It cannot be sent any more. The name of an approved template cannot be used again for 30 days.
      </Confirm>,
    );
  return (
    <Dialog title={`${of.name}, ${of.language}`} side="right" onClose={onClose}>
      <Facts
        facts={[
          ['Status', <ChatState of={of} />],
          ['Category', of.category],
          ['Business account', numbers.length > 1 && <code>{of.business_id}</code>],
          ['Asked for', <Time at={of.submitted_at} none="not here" full />],
          ['Takes', of.params.length === 0 ? 'no values' : of.params.join('; ')],
          ['Cannot be sent', of.cannot_be_sent && `it has ${of.cannot_be_sent}`],
        ]}
      />
      <Phone
        title="Chat-app"
        header={of.header === null ? '' : (of.header.text ?? placeholderOf(of.header.format, of.examples?.header_url))}
        body={filled(of.body ?? '', of.examples?.body ?? [])}
        footer={of.footer ?? ''}
        buttons={of.buttons.map(({ text }) => text)}
      />
      {EDITABLE.includes(of.state) && !isOfTheForm(of) && (
        <p class="soft">
          A template of this kind is edited by the <a href="/docs#editChatTemplate">API</a>.
        </p>
      )}
      {may('manage') && of.change === null && from !== undefined && (
        <div class="acts">
          {EDITABLE.includes(of.state) && isOfTheForm(of) && (
            <Button onClick={() => setEdits(true)}>
              {of.state === 'rejected' ? 'Edit and resend' : 'Edit template'}
            </Button>
          )}
          <Button look="danger" onClick={drop}>
            Delete template
          </Button>
        </div>
      )}
      {dialog}
    </Dialog>
  );
}

/** The state in words, how long the review has taken, and the reason for a refusal. */
function ChatState({ of }: { readonly of: ChatTemplate }) {
  const [words, tone] = wordsOf(of.state);
  const waits = of.state === 'pending' || of.state === 'requested';
  return (
    <>
      <Badge tone={tone}>{words}</Badge>
      {of.change !== null && of.state !== 'requested' && <Badge tone="info">{of.change} handed in</Badge>}
      {waits && of.submitted_at !== null && (
        <span class="state-note">
          Submitted <Time at={of.submitted_at} />, usually 24 to 48 hours
        </span>
      )}
      {of.held_back !== null && (
        <span class="state-note">
          The provider held messages back ({of.held_back.word.replaceAll('_', ' ')}), last <Time at={of.held_back.at} />
        </span>
      )}
      {of.reason !== null && <span class="state-note">{of.reason}</span>}
      {of.change_refused !== null && <span class="state-note">The last change was refused: {of.change_refused}</span>}
    </>
  );
}
