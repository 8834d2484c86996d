import { number } from '../../parts/number.ts';

/** An entry of `GET /v2/ledger`. */
export interface Entry {
  readonly seq: number;
  readonly at: string;
  readonly amount: number;
  readonly balance_after: number;
  readonly reason: string;
  readonly reference: string | null;
  readonly change_id: string;
  readonly schedule_ids?: readonly string[];
  /** What an operator said with a top-up or a correction. */
  readonly note?: string;
}

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
