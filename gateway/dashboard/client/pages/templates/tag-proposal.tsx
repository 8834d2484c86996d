import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { untaggedTemplate } from '../../../../endpoints/account-templates/tags/untagged.ts';
import { useLoad } from '../../api/load.ts';
import { Facts } from '../../parts/facts.tsx';
import { Select } from '../../parts/field.tsx';
import { Notice } from '../../parts/notice.tsx';
import { counted, number } from '../../parts/number.ts';
import { Loading } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { UNTAGGED_PATH } from './template.ts';

type Proposal = AnswerOf<typeof untaggedTemplate>;

const PERCENTS = [100, 99, 95, 90, 75, 50];
const PERCENT = 99;

/** Which tags fit the values that were sent with a template, and what the tagged one would have refused. */
export function TagProposal({ template }: { readonly template: string }) {
  const [percent, setPercent] = useState(PERCENT);
  const proposal = useLoad<Proposal>(`${UNTAGGED_PATH}/${template}`, { percent: String(percent) });
  return (
    <section class="stack" aria-label="Proposed tags">
      <h3>Proposed tags</h3>
      <Select
        name="percent"
        label="A tag takes at least"
        options={PERCENTS.map((one) => [String(one), `${one} % of the values`])}
        value={String(percent)}
        onInput={(one) => setPercent(Number(one))}
      />
      <Loading of={proposal}>{(data) => <Proposed of={data} />}</Loading>
    </section>
  );
}

function Proposed({ of }: { readonly of: Proposal }) {
  return (
    <>
      <p class="template-text">{of.tagged_content}</p>
      {of.known_days < 90 && (
        <Notice>Texts are kept for {counted(of.known_days, 'day')} only, so no older values are known.</Notice>
      )}
      <Facts
        facts={[
          ...of.slots.map((slot) => [`Slot ${slot.number}`, slotWords(slot, of.messages)] as const),
          ['Rests on', counted(of.messages, 'message')],
          ['Sent in the last 90 days', number(of.messages_counted)],
          ['Oldest of them', <Time at={of.oldest} none="–" />],
          ['Would be refused', counted(of.refused, 'message')],
        ]}
      />
      {of.examples.map(({ message_id, text, slots }) => (
        <p key={message_id}>
          <a href={`/dashboard/messages/${message_id}`}>{text ?? message_id}</a>{' '}
          <span class="state-note">{slots.length === 1 ? `slot ${slots[0]}` : `slots ${slots.join(', ')}`}</span>
        </p>
      ))}
    </>
  );
}

function slotWords({ tag, takes, touches }: Proposal['slots'][number], messages: number): string {
  if (touches) return 'No tag: it touches another slot. Put text between them.';
  if (messages === 0) return 'No tag: nothing was sent with it.';
  if (tag !== null) return `{#${tag}#}, takes ${number(takes[tag])} of ${counted(messages, 'value')}`;
  const { urlott, cbn, ...forms } = takes; // Their forms are those of url and numeric.
  const [best, most] = Object.entries(forms).reduce((one, other) => (other[1] > one[1] ? other : one));
  return most === 0
    ? 'No tag takes these values: change the text, or what you send.'
    : `No tag takes so many. The most: {#${best}#}, ${number(most)} of ${number(messages)}.`;
}
