import { Badge } from '../../parts/badge.tsx';
import { STATE_WORDS, type Template } from './template.ts';

export function TemplateState({ of }: { readonly of: Template }) {
  const [words, tone] = STATE_WORDS[of.state];
  return (
    <>
      <Badge tone={tone}>{words}</Badge>
      {of.paused && <Badge tone="warn">Paused</Badge>}
      {of.reason !== null && <span class="state-note">{of.reason}</span>}
    </>
  );
}
