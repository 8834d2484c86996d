import type { ComponentChildren, ComponentType } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { looking, testing } from '../api/http.ts';
import { isSilent } from '../api/live.ts';
import type { Permission } from '../api/permission.ts';
import { hasAccount, lookAt, mayAny, session, showTests, signOut } from '../api/session.ts';
import { Dialog, toastProblem } from '../parts/form.tsx';
import { Brand, Notice, type PageProps } from '../parts/page.tsx';
import { Button, Icon, type IconName } from '../parts/value.tsx';
import { storedTheme, storeTheme, type Theme } from './theme.ts';

/** In the order of the navigation. */
const GROUPS = ['', 'Messaging', 'Settings', 'Operators'] as const;

export interface Page {
  /** Such as `/dashboard/messages/:message_id`. */
  readonly path: string;
  /** Used by the window and the navigation; the heading comes from `PageHead`. */
  readonly title: string;
  /** Any one of these permissions is enough. `[]`: everybody who is signed in. `open`: no sign-in needed. */
  readonly needs: Permission | readonly Permission[] | 'open';
  /** Absent for pages that are reached from another page. */
  readonly nav: readonly [group: (typeof GROUPS)[number], icon: IconName] | undefined;
  readonly view: ComponentType<PageProps>;
}

interface FrameProps {
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
  readonly children: ComponentChildren;
}

export function Frame({ pages, current, children }: FrameProps) {
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="top">
        <NavigationDrawer pages={pages} current={current} />
        <Brand />
        <UserMenu />
      </header>
      <aside class="side">
        <Brand />
        <ModeSwitch />
        <Navigation pages={pages} current={current} />
        <UserMenu />
      </aside>
      <main id="main" tabIndex={-1}>
        <LookingBanner />
        <TestBanner />
        <Silence />
        {children}
      </main>
    </div>
  );
}

/** Shown on pages with live values while the stream is down. */
function Silence() {
  if (!isSilent.value) return null;
  return (
    <div role="alert">
      <Notice tone="warn">
        This page is not live at the moment: what it shows may be old. It tries again by itself.
      </Notice>
    </div>
  );
}

function LookingBanner() {
  const { route } = useLocation();
  const account = looking.value;
  if (account === undefined) return null;
  const leave = () => {
    lookAt(undefined);
    route(`/dashboard/admin/accounts/${account.account_id}`);
  };
  return (
    <aside class="looking" aria-label="Account that you look at">
      <p>
        You are in the account <strong>{account.name}</strong> and see what its users see.{' '}
        <span class="soft">Read only. Codes in texts are masked. What you open stands in its audit.</span>
      </p>
      <Button onClick={leave}>Leave account</Button>
    </aside>
  );
}

const MODES = [
  [false, 'Live'],
  [true, 'Test'],
] as const;

/** Switches between live and test messages. */
function ModeSwitch() {
  if (!hasAccount()) return null;
  return (
    <div class="mode">
      <Segments legend="What is shown" options={MODES} value={testing.value} onChange={showTests} />
    </div>
  );
}

function TestBanner() {
  if (!testing.value || !hasAccount()) return null;
  return (
    <aside class="looking" aria-label="Test mode">
      <p>
        You see <strong>tests</strong>, and what you send is a test: it leaves to nobody and costs nothing.{' '}
        <span class="soft">
          The last digits of the recipient decide what becomes of it: <a href="/docs">see the docs</a>. Settings are
          those of the account.
        </span>
      </p>
      <Button onClick={() => showTests(false)}>Show live</Button>
    </aside>
  );
}

const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const satisfies readonly (readonly [Theme, string])[];

function UserMenu() {
  const id = useId();
  const who = session.value;
  if (!who) return null;
  const called = who.user.name ?? who.user.username;
  return (
    <div class="user-menu">
      <button type="button" popoverTarget={id} class="who">
        <span class="face" aria-hidden="true">
          {[...called][0]?.toUpperCase()}
        </span>
        <span class="who-names">
          <strong>{called}</strong>
          <span>{who.account?.name ?? 'Operator'}</span>
        </span>
      </button>
      <div id={id} popover="auto" class="popover">
        <p class="small soft">
          {who.user.username}
          <br />
          {who.user.role}
        </p>
        <ThemeSwitch />
        <a href="/dashboard/profile">
          <Icon name="user" />
          Your profile
        </a>
        <a href="/docs">
          <Icon name="link" />
          API reference
        </a>
        <button type="button" onClick={leave}>
          <Icon name="out" />
          Sign out
        </button>
      </div>
    </div>
  );
}

function leave(): void {
  signOut().catch(toastProblem);
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(storedTheme());
  const choose = (chosen: Theme) => {
    setTheme(chosen);
    storeTheme(chosen);
  };
  return <Segments legend="Theme" options={THEMES} value={theme} onChange={choose} />;
}

interface SegmentsProps<T> {
  readonly legend: string;
  readonly options: readonly (readonly [value: T, label: string])[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

/** Radio buttons side by side. */
function Segments<T>({ legend, options, value, onChange }: SegmentsProps<T>) {
  const name = useId();
  return (
    <fieldset class="segments">
      <legend class="hidden">{legend}</legend>
      {options.map(([option, label]) => (
        <label key={label}>
          <input type="radio" name={name} checked={value === option} onChange={() => onChange(option)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

interface NavigationProps {
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
}

/** Lists the pages that the user may see; for an operator inside an account only that account's pages. */
function Navigation({ pages, current }: NavigationProps) {
  return (
    <nav class="navigation" aria-label="Main">
      {GROUPS.map((group) => {
        if (group === 'Operators' && looking.value !== undefined) return null;
        const links = pages.filter((page) => page.nav?.[0] === group && maySee(page));
        if (links.length === 0) return null;
        return (
          <div key={group} class="nav-group">
            {group !== '' && <h2>{group}</h2>}
            <ul>
              {links.map((page) => (
                <li key={page.path}>
                  <a href={page.path} aria-current={isWithin(current, page) ? 'page' : undefined}>
                    {page.nav && <Icon name={page.nav[1]} />}
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** The navigation on a narrow screen, opened by a button. */
function NavigationDrawer(props: NavigationProps) {
  const [openOn, setOpenOn] = useState<Page | 'none'>();
  const here = props.current ?? 'none';
  return (
    <>
      <button type="button" class="menu" aria-label="Menu" onClick={() => setOpenOn(here)}>
        <Icon name="menu" />
      </button>
      {openOn === here && (
        <Dialog title="Menu" side="left" onClose={() => setOpenOn(undefined)}>
          <ModeSwitch />
          <Navigation {...props} />
        </Dialog>
      )}
    </>
  );
}

/** Operators see pages of an account only while they look at one. */
export function maySee({ needs = [], path }: Page): boolean {
  if (needs === 'open') return true;
  const isAllowed = needs.length === 0 || mayAny(...[needs].flat());
  return isAllowed && (hasAccount() || path.startsWith('/dashboard/admin') || path === '/dashboard/profile');
}

/** Every other page lies below these by its address, so they are current only on an exact match. */
const ROOTS: readonly string[] = ['/dashboard', '/dashboard/admin'];

/** True for the page and for pages below it: `/dashboard/messages` is current while one message is open. */
function isWithin(current: Page | undefined, page: Page): boolean {
  if (current === undefined) return false;
  return current.path === page.path || (!ROOTS.includes(page.path) && current.path.startsWith(`${page.path}/`));
}
