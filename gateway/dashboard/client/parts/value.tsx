import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { toClipboard } from './clipboard.ts';
import { exactNow } from './now.ts';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'plain';

/** A state in a word; the colour only repeats the word. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export type Fact = readonly [name: string, value: ComponentChildren];

const NONE: readonly unknown[] = [undefined, null, false];

/** Facts without a value are left out. */
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
  /** Links to the list that the number counts. */
  readonly href?: string;
}

/** A large number with its name, inside `<Stats>`. */
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
  /** Shown when there is no time, as "never". */
  readonly none?: string;
  /** Date and time instead of "5 minutes ago"; `seconds` for events in quick succession. */
  readonly full?: boolean | 'seconds';
  /** A time zone other than the viewer's, with `full`. */
  readonly zone?: string;
}

/** "5 minutes ago", with the exact time and zone as the title. */
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

/** As text, for places without elements such as the labels of an axis. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

/** "22 Nov 2026, 18:30" */
export function shortTime(at: string): string {
  return short.format(new Date(at));
}

/** "22 Nov 2026": the UTC day that begins then. Local time would give the day before west of Greenwich. */
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

/** "1 credit", "12,000 credits" */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function amount(value: number): string {
  return parts.format(value);
}

interface CopyProps {
  readonly text: string;
  /** Such as "secret" in "Copy secret". */
  readonly label: string;
}

const SHOWN_MS = 2_000;

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

export function CopyId({ id }: { readonly id: string }) {
  return (
    <span class="copy-id">
      <code>{id}</code>
      <Copy text={id} label={id} />
    </span>
  );
}

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

/** A text of the API with code in backticks. */
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

/** A progress bar with words. `part` is from 0 to 1. */
export function Progress({ part, label }: { readonly part: number; readonly label: string }) {
  const percent = Math.floor(part * 100);
  return (
    <span class="progress">
      <progress max={100} value={percent} aria-label={label} /> {percent} %
    </span>
  );
}

/** 0.975 becomes "97.5 %". */
export function percent(part: number | null): string {
  return part === null ? '–' : `${amount(Math.round(part * 1_000) / 10)} %`;
}

interface Look {
  /** One `primary` on a page or in a dialog. `danger` for what cannot be undone. `quiet` inside rows. */
  readonly look?: 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
  readonly children: ComponentChildren;
}

type ButtonProps = Look & Omit<JSX.IntrinsicElements['button'], 'class' | 'icon'> & { readonly busy?: boolean };

/** Its words begin with a verb: "Revoke key", never "OK". */
export function Button({ look, icon, busy = false, type = 'button', children, ...rest }: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      class={`button ${look ?? ''}`}
      aria-busy={busy}
      disabled={busy || rest.disabled === true}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

export function AddButton(props: Pick<ButtonProps, 'onClick' | 'children'>) {
  return <Button look="primary" icon="plus" {...props} />;
}

export function LinkButton({
  look,
  icon,
  children,
  ...rest
}: Look & { readonly href: string; readonly download?: string }) {
  return (
    <a {...rest} class={`button ${look ?? ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** Stroked on 16 × 16. Each repeats a word beside it, so screen readers skip them. */
const PATHS = {
  overview: 'M2 13V8m4 5V3m4 10V6m4 7V9',
  messages: 'M2 3.500h12v8H7l-3 2.500v-2.500H2z',
  mail: 'M2 3.500h12v9H2zm0 .5 6 5 6-5',
  send: 'M14 2 7 9m7-7-4.500 12L7 9 2 6.500z',
  batches: 'm8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2m0 3v3.200l2.200 1.500',
  inbox: 'M2 9 4 3h8l2 6v4H2zm0 0h3.500l1 1.500h3L10.500 9H14',
  template: 'M2.500 2.500h11v11h-11zm0 3.500h11M6 6v7.500',
  chat: 'M8 2.500c3.300 0 6 2.200 6 5s-2.700 5-6 5c-.8 0-1.600-.1-2.300-.4L2.500 13.500l.9-2.600C2.500 10 2 8.800 2 7.500c0-2.800 2.700-5 6-5',
  credits: 'M2 4h12v8.500H2zm0 2.800h12M4.500 10h2',
  key: 'M9.500 6.500a3 3 0 1 0-2.300 2.900L8.500 10.700H10V12h1.500v1.500H14V11L9.300 6.300M5.800 6h0',
  webhook:
    'M6 4a2.200 2.200 0 1 1 3.300 2l2.200 4M8 5 5.700 9.300a2.200 2.200 0 1 1-2-.5M5 11.500h6.200a2.200 2.200 0 1 0 .2-1.400',
  list: 'M5.500 4H14M5.500 8H14m-8.500 4H14M2 4h.5M2 8h.5M2 12h.5',
  users:
    'M6 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5m-4.500 5.500c0-2.500 2-4 4.500-4s4.500 1.500 4.500 4M10.500 3.200a2.500 2.500 0 0 1 0 4.600m1.500 2.100c1.600.5 2.500 1.800 2.500 3.600',
  user: 'M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8m-5.500 6c0-2.700 2.500-4.200 5.500-4.200s5.500 1.500 5.500 4.200',
  audit: 'M8 1.800 13 4v4c0 3-2 5.200-5 6.300C5 13.200 3 11 3 8V4zM5.800 8l1.600 1.600 3-3.100',
  accounts: 'M2 14V5l4-2.500V14m0-8h8v8M1.500 14h13M9 8.500h2M9 11h2',
  carrier: 'M8 9v5m-2.500 0h5M5.200 9.700a3.600 3.600 0 1 1 5.600 0M3.300 11.300a6 6 0 1 1 9.400 0M8 7.500h0',
  queue: 'M2 3.500h12M2 8h8m-8 4.500h5',
  provider: 'M4.500 2.500h7v11h-7zM7 11.500h2',
  orphan:
    'M6.700 9.300 4 12M9.300 6.700 12 4M7 4.500 8.500 3A3.200 3.200 0 0 1 13 7.500L11.500 9M9 11.500 7.500 13A3.200 3.200 0 0 1 3 8.500L4.500 7',
  check: 'm3 8.500 3.500 3.500L13.500 4.500',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  close: 'm3.500 3.500 9 9m0-9-9 9',
  menu: 'M2 4h12M2 8h12M2 12h12',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10m3.600-1.400L14 14',
  warning: 'M8 2 14.500 13.500h-13zM8 6.500v3.200M8 11.700h0',
  link: 'M9 2.500h4.500V7m0-4.500L7.500 8.500M6.500 3.500h-4v10h10v-4',
  theme: 'M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12',
  stop: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M3.800 3.800l8.400 8.400',
  sender: 'M2 3.500h12v9H2zM5 7h3m-3 2.500h6M11.500 6.500h0',
  number: 'M6 2.500 4.500 13.500m7-11L10 13.500M2.500 5.700h11.500m-12 4.600h11.500',
  out: 'M6 2.500H2.500v11H6M10.500 5l3 3-3 3M13 8H6',
  down: 'm4 6 4 4 4-4',
  back: 'M10 4 6 8l4 4',
  more: 'M3.500 8h0M8 8h0M12.500 8h0',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
