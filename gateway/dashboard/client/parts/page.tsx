import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { ApiProblem } from '../api/http.ts';
import type { Loaded } from '../api/load.ts';
import { loadSession } from '../api/session.ts';
import { Button, CopyId, Icon, type IconName, Words } from './value.tsx';

export interface PageProps {
  /** Values of the path's `:names`. */
  readonly params: Readonly<Record<string, string>>;
}

export interface PageHeadProps {
  readonly title: string;
  /** One sentence below the title: what this page is for. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Leads back to the list that a thing belongs to. */
  readonly back?: { readonly href: string; readonly label: string } | undefined;
}

/** The heading of every page. It sets the window's title and takes the focus on arrival. */
export function PageHead({ title, lead, actions, back }: PageHeadProps) {
  const heading = useArrival(title);
  return (
    <header class="page-head">
      {back && (
        <a class="back" href={back.href}>
          ← {back.label}
        </a>
      )}
      <div class="page-head-line">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {lead && <p class="lead">{lead}</p>}
    </header>
  );
}

interface LoadingProps<T> {
  readonly of: Loaded<T>;
  readonly children: (data: T) => ComponentChildren;
}

export function Loading<T>({ of: { data, problem, reload }, children }: LoadingProps<T>) {
  return (
    <>
      {problem && <Problem problem={problem} retry={reload} />}
      {data !== undefined ? children(data) : problem === undefined && <Skeleton />}
    </>
  );
}

interface CardProps {
  readonly title?: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Card({ title, lead, actions, children }: CardProps) {
  return (
    <section class="card">
      {(title || actions) && (
        <header class="card-head">
          {title && <h2>{title}</h2>}
          {actions && <div class="actions">{actions}</div>}
        </header>
      )}
      {lead && <p class="lead">{lead}</p>}
      {children}
    </section>
  );
}

let arrivals = 0;

/** Announces a new page: sets the window's title and focuses the heading, except on the first page. */
function useArrival(title: string) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title === 'Harkara' ? title : `${title} · Harkara`;
  }, [title]);
  useEffect(() => {
    if (arrivals++ === 0) return;
    scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}

interface ProblemProps {
  readonly problem: ApiProblem;
  readonly retry?: () => void;
  /** Replaces the problem's detail, which is written for programs. */
  readonly children?: ComponentChildren;
}

/** Why something failed and what to do, with the request id for our logs. */
export function Problem({ problem, retry, children }: ProblemProps) {
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <div>
        {children ?? (
          <p>
            <strong>{problem.title}.</strong> <Words text={problem.message} />
          </p>
        )}
        {problem.requestId && (
          <p class="request">
            Request <CopyId id={problem.requestId} />
          </p>
        )}
      </div>
      {problem.code === 'second_factor_needed' && <Button onClick={() => loadSession()}>Set it up</Button>}
      {retry && (
        <Button look="quiet" onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface NoticeProps {
  readonly tone?: 'info' | 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
}

/** A lasting remark. Results of the user's acts are toasts. */
export function Notice({ tone = 'info', children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`}>
      <Icon name={tone === 'good' ? 'check' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}

interface EmptyProps {
  readonly icon?: IconName | undefined;
  /** One sentence: "No keys yet. Create one to send your first message." */
  readonly children: ComponentChildren;
  /** One button or link: what to do next. */
  readonly action?: ComponentChildren;
}

export function Empty({ icon = 'list', children, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Nothing was found so far, but the gateway has not searched all entries yet. */
export function NothingYet() {
  return (
    <Empty icon="search">
      Nothing among those looked at so far. Load more to look further, or say more in the filter.
    </Empty>
  );
}

export function NoResults({ clear }: { readonly clear: () => void }) {
  return (
    <Empty icon="search" action={<Button onClick={clear}>Clear filter</Button>}>
      No results for this filter.
    </Empty>
  );
}

const AFTER_MS = 200;

/** Grey lines, shown only after a moment because most answers come sooner. */
export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return null;
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: lines }, (_, line) => (
        <i key={line} />
      ))}
    </div>
  );
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly label: string; readonly count?: number }[];
}

/** The address says which tab is open. */
export function Tabs({ label, tabs }: TabsProps) {
  const { path, url } = useLocation();
  const here = tabs.some(({ href }) => href === url) ? url : path;
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.href} href={tab.href} aria-current={tab.href === here ? 'page' : undefined}>
          {tab.label}
          {tab.count !== undefined && <span class="count">{tab.count}</span>}
        </a>
      ))}
    </nav>
  );
}

interface GateProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page outside the dashboard's frame, such as signing in. */
export function Gate({ title, lead, children }: GateProps) {
  return (
    <main class="gate">
      <Brand />
      <div class="card">
        <PageHead title={title} {...(lead === undefined ? {} : { lead })} />
        {children}
      </div>
    </main>
  );
}

export function Brand() {
  return (
    <a class="brand" href="/dashboard">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M9 8v16M9 16.500c5-3.500 10-3.500 10 2V24" />
        <circle cx="22.500" cy="9.500" r="3" />
      </svg>
      Harkara
    </a>
  );
}
