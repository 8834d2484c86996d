import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain';

/** A state, in a word. The colour repeats what the word says. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}
