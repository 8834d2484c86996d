import type { ComponentChildren } from 'preact';

/** Names and values of one thing. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface StatProps {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: ComponentChildren;
  /** The list that the number counts. */
  readonly href?: string;
}

/** One number with its name, large. Several stand in a `<Stats>`. */
export function Stat({ label, value, note, href }: StatProps) {
  const inside = (
    <>
      <span class="stat-label">{label}</span>
      <strong class="stat-value">{value}</strong>
      {note && <span class="stat-note">{note}</span>}
    </>
  );
  return href === undefined ? (
    <div class="stat">{inside}</div>
  ) : (
    <a class="stat" href={href}>
      {inside}
    </a>
  );
}

export function Stats({ children }: { readonly children: ComponentChildren }) {
  return <div class="stats">{children}</div>;
}
