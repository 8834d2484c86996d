import type { EntryOf } from '../../../../api/endpoint.ts';
import type { ledger } from '../../../../endpoints/ledger/ledger.ts';
import { Badge } from '../../parts/badge.tsx';
import { number } from '../../parts/number.ts';

/** An entry of `GET /v2/ledger`. */
export type Entry = EntryOf<typeof ledger>;

export const REASONS = [
  ['send', 'Messages'],
  ['conversation', 'Conversations'],
  ['top_up', 'Top-ups'],
  ['refund', 'Refunds'],
  ['correction', 'Corrections'],
] as const;

/** Where the things are that a change was for, by the beginning of their ids. */
const PAGES: readonly (readonly [prefix: string, what: string, path?: string])[] = [
  ['bat_', 'batch', '/dashboard/batches/'],
  ['sch_', 'schedule', '/dashboard/schedules?show=all#'],
  ['msg_', 'message', '/dashboard/messages/'],
  ['cnv_', 'conversation'],
];

/** What a change was for, in words, with a link to it. */
export function PurposeOf({ entry }: { readonly entry: Entry }) {
  const { reason, reference, schedule_ids: schedules, note } = entry;
  if (reason === 'refund') {
    return (
      <>
        Refund of {thing(reference)}: {entry.explanation ?? 'it never left.'} <Messages of={entry} />
      </>
    );
  }
  if (reason === 'conversation')
    return (
      <>
        Conversation on the chat-app channel {code(reference)} <Messages of={entry} />
      </>
    );
  if (reason === 'send') {
    if (schedules !== undefined && schedules.length > 0) {
      return (
        <>
          Booked: {schedules.map((id, at) => [at > 0 && ', ', thing(id)])} <Messages of={entry} />
        </>
      );
    }
    if (reference !== null) return <>Sent: {thing(reference)}</>;
    return <Messages of={entry} />;
  }
  const words = reason === 'top_up' ? 'Top-up' : 'Correction';
  return note ? (
    `${words}: ${note}`
  ) : (
    <>
      {words} {code(reference)}
    </>
  );
}

/** The messages with their numbers and references, and a mark where the same was charged twice. */
function Messages({ of: entry }: { readonly of: Entry }) {
  const { messages = [], message_count: count = 0, repeats = [], amount, change_id: change } = entry;
  const [few] = [messages.slice(0, count > 2 ? 1 : 2)];
  return (
    <>
      {few.map(({ message_id: id, to, reference }, at) => (
        <span key={id ?? at}>
          {at > 0 && ', '}
          {id === undefined ? (to ?? 'a message') : <a href={`/dashboard/messages/${id}`}>{to ?? 'a message'}</a>}
          {reference !== null && ` (${reference})`}
        </span>
      ))}
      {count > 2 && (
        <>
          {' and '}
          <a href={`/dashboard/messages?change_id=${change}`}>{number(count - 1)} more</a>
        </>
      )}
      {messages.length === 0 &&
        count === 0 &&
        entry.reason === 'send' &&
        (amount === -1 ? 'One message' : `${number(-amount)} credits`)}
      {repeats.length > 0 && (
        <>
          {' '}
          <Badge tone="warn">same as line {repeats.map(number).join(', ')}</Badge>
        </>
      )}
    </>
  );
}

function thing(id: string | null) {
  const [prefix, what, path] = PAGES.find(([begin]) => id?.startsWith(begin)) ?? [];
  if (id === null || prefix === undefined) return code(id);
  return (
    <>
      {what} {path === undefined ? code(id) : <a href={path + id}>{code(id)}</a>}
    </>
  );
}

function code(text: string | null) {
  return text === null ? null : <code>{text}</code>;
}
