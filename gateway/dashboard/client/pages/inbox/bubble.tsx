import { queryText } from '../../api/http.ts';
import { looking } from '../../api/looking.ts';
import { session } from '../../api/session.ts';
import { Time } from '../../parts/time.tsx';
import type { InboxMessage } from './customer.ts';

/** One message, with its words. */
export function Bubble({ message }: { readonly message: InboxMessage }) {
  const { message_id, direction, created_at, status, error_reason, group_id } = message;
  return (
    <li class={`bubble ${direction}`}>
      <span class="hidden">{direction === 'in' ? 'Customer' : 'You'}: </span>
      <p>{direction === 'in' ? said(message) : sent(message)}</p>
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
      </footer>
    </li>
  );
}

const WITH_FILE = ['image', 'video', 'audio', 'voice', 'document', 'sticker'];

/** Pictures, sound and film open in a tab of their own, where nothing of them can run; other files are stored. */
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

function said({ type, body, body_cut }: InboxMessage): string {
  if (body === undefined || body === '') return `(${type ?? 'no text'})`;
  return body_cut ? `${body}…` : body;
}

function sent({ type, template, language, params = [], body, body_cut }: InboxMessage): string {
  if (template !== undefined)
    return `Template ${template} (${language})${params.length > 0 ? `: ${params.join(', ')}` : ''}`;
  if (body === undefined) return `(${type ?? 'message'})`;
  return `${type === 'text' || type === 'buttons' ? '' : `(${type}) `}${body}${body_cut ? '…' : ''}`;
}
