import type { ComponentChildren } from 'preact';
import { counted } from '../../parts/number.ts';
import { Time } from '../../parts/time.tsx';
import type { Happening } from './message.ts';

/** What happened to a message, in words, with what carriers wrote as they wrote it. */
export function Timeline({ entries }: { readonly entries: readonly Happening[] }) {
  return (
    <ol class="timeline">
      {entries.map((entry, index) => (
        <li key={index}>
          <Time at={entry.at} full="seconds" />
          <div>
            {entry.message_id && 'SMS: '}
            {wordsOf(entry)}
            {entry.raw?.text && <code class="raw">{entry.raw.text}</code>}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** With a link to the line of the statement. */
function Paid({ words, entry }: { readonly words: string; readonly entry: Happening }) {
  const { credits, change_id: change, ledger_seq: seq } = entry;
  return (
    <>
      {words} {counted(credits ?? 0, 'credit')}
      {change !== undefined && (
        <>
          {': '}
          <a href={`/dashboard/credits?change_id=${change}`}>line {seq} of the statement</a>
        </>
      )}
    </>
  );
}

function wordsOf(entry: Happening): ComponentChildren {
  const say = WORDS[entry.what];
  return say === undefined ? entry.what : say(entry);
}

const WORDS: Readonly<Record<string, (entry: Happening) => ComponentChildren>> = {
  accepted: () => 'Accepted',
  template: ({ template_id: id, template }) => `Matches the template ${id ?? template ?? ''}`,
  path: ({ path }) => `Routed as ${path}`,
  paid: (entry) => <Paid words="Paid with" entry={entry} />,
  refunded: (entry) => <Paid words="Refunded" entry={entry} />,
  taken: ({ carrier }) => (carrier === undefined ? 'Taken to be sent' : `Taken to be sent by ${carrier}`),
  state: ({ status, error_reason: reason }) =>
    status === 'fallback' ? (
      <strong>{reason ? `No SMS went: ${reason}` : 'The SMS goes in its place'}</strong>
    ) : (
      <strong>{status}</strong>
    ),
  fallback: ({ because }) =>
    because === 'failed' ? 'It failed: an SMS is to go in its place' : 'Its time is over: an SMS is to go in its place',
  answer: ({ carrier, outcome, error_code: code, error_reason: reason }) =>
    `${carrier ?? 'The provider'} answered: ${[outcome, code, reason].filter(Boolean).join(', ')}`,
  receipt: ({ carrier, status, error_code: code, error_reason: reason, result }) =>
    `Receipt of ${carrier ?? 'the provider'}: ${[status, code, reason, result === 'failover' && 'so the next carrier is asked'].filter(Boolean).join(', ')}`,
  policy: ({ became }) => `No answer came in time: it became ${became}`,
  webhook: ({ event, result, duration_ms: ms }) => `Webhook ${event}: ${result} after ${ms} ms`,
};
