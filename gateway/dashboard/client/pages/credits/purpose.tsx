import type { EntryOf } from '../../../../api/endpoint.ts';
import type { ledger } from '../../../../endpoints/ledger/ledger.ts';
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
  const { reason, reference, schedule_ids: schedules, amount, note } = entry;
  if (reason === 'refund') return <>Refund of {thing(reference)}: it never left</>;
  if (reason === 'conversation') return <>Conversation on the chat-app channel {code(reference)}</>;
  if (reason === 'send') {
    if (schedules !== undefined && schedules.length > 0) {
      return <>Booked: {schedules.map((id, at) => [at > 0 && ', ', thing(id)])}</>;
    }
    if (reference !== null) return <>Sent: {thing(reference)}</>;
    return <>{amount === -1 ? 'One message' : `${number(-amount)} messages`}</>;
  }
  const words = reason === 'top_up' ? 'Top-up' : 'Correction';
  return (
    <>
      {words} {code(reference)} {note}
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
