import { Time } from '../../parts/time.tsx';
import type { InboxMessage } from './customer.ts';

/** One message. What you sent is shown by its kind: the API never shows texts of yours again. */
export function Bubble({ message }: { readonly message: InboxMessage }) {
  const { message_id, direction, created_at, status, error_reason, group_id } = message;
  return (
    <li class={`bubble ${direction}`}>
      <span class="hidden">{direction === 'in' ? 'Customer' : 'You'}: </span>
      <p>{direction === 'in' ? said(message) : sent(message)}</p>
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

function said({ type, body, body_cut }: InboxMessage): string {
  if (body === undefined || body === '') return `(${type ?? 'no text'})`;
  return body_cut ? `${body}…` : body;
}

function sent({ type, template, language }: InboxMessage): string {
  return template === undefined ? `Your ${type ?? 'message'}` : `Template ${template} (${language})`;
}
