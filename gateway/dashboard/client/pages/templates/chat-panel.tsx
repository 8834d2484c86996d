import { useState } from 'preact/hooks';
import { queryText, remove } from '../../api/http.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { useChatNumbers } from '../../parts/chat-numbers.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { ChatForm } from './chat-form.tsx';
import { ChatState } from './chat-state.tsx';
import {
  CHAT_TEMPLATES_PATH,
  type ChatTemplate,
  EDITABLE,
  filled,
  isOfTheForm,
  placeholderOf,
} from './chat-template.ts';
import { Phone } from './phone.tsx';

interface ChatPanelProps {
  readonly of: ChatTemplate;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One chat-app template, and what can be done about it. */
export function ChatPanel({ of, onClose, onChange }: ChatPanelProps) {
  const [asked, setAsked] = useState<'edit' | 'remove'>();
  const numbers = useChatNumbers();
  const from = numbers.find(({ business_id }) => business_id === of.business_id)?.number;
  // Another business account may have one of the same name.
  const path = `${CHAT_TEMPLATES_PATH}/${of.name}/${of.language}${queryText({ from })}`;
  if (asked === 'edit') return <ChatForm edits={{ of, path }} onClose={() => setAsked(undefined)} onDone={onChange} />;
  return (
    <Dialog title={`${of.name}, ${of.language}`} side="right" onClose={onClose}>
      <Facts
        facts={[
          ['Status', <ChatState of={of} />],
          ['Category', of.category],
          ...(numbers.length > 1 ? [['Business account', <code>{of.business_id}</code>] as const] : []),
          ['Asked for', <Time at={of.submitted_at} none="not here" full />],
          ['Takes', of.params.length === 0 ? 'no values' : of.params.join('; ')],
          ...(of.cannot_be_sent === null ? [] : [['Cannot be sent', `it has ${of.cannot_be_sent}`] as const]),
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
            <Button onClick={() => setAsked('edit')}>
              {of.state === 'rejected' ? 'Edit and resend' : 'Edit template'}
            </Button>
          )}
          <Button look="danger" onClick={() => setAsked('remove')}>
            Delete template
          </Button>
        </div>
      )}
      {asked === 'remove' && (
        <Confirm
          title={`Delete ${of.name} in ${of.language}?`}
          act="Delete template"
          typed={of.name}
          onConfirm={async () => {
            const { message } = await remove<{ message: string }>(path);
            onChange();
            toast(message);
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>It cannot be sent any more. The name of an approved template cannot be used again for 30 days.</p>
        </Confirm>
      )}
    </Dialog>
  );
}
