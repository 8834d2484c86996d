import { queryText } from '../../api/http.ts';
import { looking } from '../../api/looking.ts';
import { session } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Time } from '../../parts/time.tsx';
import { toastProblem } from '../../parts/toast.tsx';
import type { InboxMessage } from './customer.ts';

interface BubbleProps {
  readonly message: InboxMessage;
  /** The message that this one answers or reacts to, if it is shown too. */
  readonly answered?: InboxMessage | undefined;
  /** What one may do with it: only while the customer may be written to freely. */
  readonly acts?: BubbleActs | undefined;
}

export interface BubbleActs {
  readonly quote: (message: InboxMessage) => void;
  readonly react: (message: InboxMessage, emoji: string) => Promise<void>;
}

/** What WhatsApp itself offers first, without those that need a mood. */
const EMOJIS = ['👍', '❤️', '🙏'];

/** One message, with its words. */
export function Bubble({ message, answered, acts }: BubbleProps) {
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

/** The provider must have it: what a customer wrote, or what it took of ours. */
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

/** What it says, as a text. */
export function inWords(message: InboxMessage): string {
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

/** What can be seen of these needs no word before it. */
const PLAIN = ['text', 'buttons', 'list', 'reaction'];
