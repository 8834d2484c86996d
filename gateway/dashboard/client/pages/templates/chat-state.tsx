import { Badge } from '../../parts/badge.tsx';
import { Time } from '../../parts/time.tsx';
import { type ChatTemplate, wordsOf } from './chat-template.ts';

/** A state in words, how long it has been waited for, and why it is no better one. */
export function ChatState({ of }: { readonly of: ChatTemplate }) {
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
