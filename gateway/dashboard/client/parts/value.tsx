import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from './button.tsx';
import { toClipboard } from './clipboard.ts';
import { exactNow } from './now.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain';

/** A state, in a word. The colour repeats what the word says. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export type Fact = readonly [name: string, value: ComponentChildren];

/** What stands where something has no such fact. */
const NONE: readonly unknown[] = [undefined, null, false];

/** Names and values of one thing; what has no value is left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => !NONE.includes(value))
        .map(([name, value]) => (
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

const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const JUST_NOW_MS = 45_000;
const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'always' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const medium = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const shortIn = (timeZone?: string) =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', ...(timeZone && { timeZone }) });
const short = shortIn();

interface TimeProps {
  /** ISO 8601, as the API tells it. */
  readonly at: string | null | undefined;
  /** In words when there is none, as "never". */
  readonly none?: string;
  /** Date and time instead of "5 minutes ago"; with seconds where things follow each other quickly. */
  readonly full?: boolean | 'seconds';
  /** A time zone that is not the viewer's, with `full`. */
  readonly zone?: string;
}

/** "5 minutes ago", with the exact time and its zone as the title. */
export function Time({ at, none = '–', full = false, zone }: TimeProps) {
  if (at === null || at === undefined) return <span class="soft">{none}</span>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact.format(date)}>
      {full === 'seconds'
        ? medium.format(date)
        : full
          ? (zone === undefined ? short : shortIn(zone)).format(date)
          : ago(date.getTime() - exactNow())}
    </time>
  );
}

/** For whatever has no element, as the labels of an axis. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

/** "22 Nov 2026, 18:30", for a time within words. */
export function shortTime(at: string): string {
  return short.format(new Date(at));
}

/** "22 Nov 2026": the day of UTC that begins then. In local time it would be another one west of Greenwich. */
export function utcDay(at: string): string {
  return day.format(new Date(at));
}

function ago(ms: number): string {
  if (Math.abs(ms) < JUST_NOW_MS) return ms > 0 ? 'in a moment' : 'just now';
  const [unit, size] = UNITS.find(([, length]) => Math.abs(ms) >= length) ?? ['minute', 60_000];
  return relative.format(Math.round(ms / size) || Math.sign(ms), unit);
}

const whole = new Intl.NumberFormat('en-IN');
const parts = new Intl.NumberFormat('en-IN', { maximumFractionDigits: 2 });

/** Grouped as in India: 12,34,567. */
export function number(value: number): string {
  return whole.format(value);
}

/** "1 credit", "12,000 credits". */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function amount(value: number): string {
  return parts.format(value);
}

interface CopyProps {
  readonly text: string;
  /** What is copied, as in "Copy secret". */
  readonly label: string;
}

const SHOWN_MS = 2_000;

/** A button that copies, and says so. */
export function Copy({ text, label }: CopyProps) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await toClipboard(text));
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" onClick={copy} aria-label={`Copy ${label}`} title={`Copy ${label}`}>
      <Icon name={copied ? 'check' : 'copy'} />
      <span class="hidden" role="status">
        {copied ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** An id, in the font of code, with its copy button. */
export function CopyId({ id }: { readonly id: string }) {
  return (
    <span class="copy-id">
      <code>{id}</code>
      <Copy text={id} label={id} />
    </span>
  );
}

/** Lines to paste elsewhere. */
export function CodeBlock({ text, label }: CopyProps) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard. */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{text}</code>
        </pre>
      </section>
      <Copy text={text} label={label} />
    </div>
  );
}

/** A text of the API, in which names stand between backticks. */
export function Words({ text }: { readonly text: string }) {
  return (
    <>
      {text.split('`').map((part, at) => {
        const key = `${at} ${part}`;
        return at % 2 === 1 ? <code key={key}>{part}</code> : <span key={key}>{part}</span>;
      })}
    </>
  );
}

/** How far something is, as a bar and in words. `part` is of 1. */
export function Progress({ part, label }: { readonly part: number; readonly label: string }) {
  const percent = Math.floor(part * 100);
  return (
    <span class="progress">
      <progress max={100} value={percent} aria-label={label} /> {percent} %
    </span>
  );
}

/** "97.5 %" of a part of 1. */
export function percent(part: number | null): string {
  return part === null ? '–' : `${amount(Math.round(part * 1_000) / 10)} %`;
}
