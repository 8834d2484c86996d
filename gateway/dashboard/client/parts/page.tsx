import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Loaded } from '../api/load.ts';
import { Problem } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

interface PageHeadProps {
  readonly title: string;
  /** One sentence below the title: what this page is for. */
  readonly lead?: ComponentChildren;
  /** Buttons at its end. */
  readonly actions?: ComponentChildren;
  /** Where one came from: pages about one thing lead back to their list. */
  readonly back?: { readonly href: string; readonly label: string };
}

/** Every page begins with it. It sets the window's title and takes the focus when one arrives. */
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

/** What was loaded, or the problem, or a skeleton meanwhile. */
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

/** A part of a page, with its own heading. */
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

/** A new page says where one is: its title in the window, its heading to the screen reader. The first one leaves the focus. */
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
