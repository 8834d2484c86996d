import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { exec } from 'preact-iso/router';
import { testing } from '../api/looking.ts';
import type { Permission } from '../api/permission.ts';
import { asProblem } from '../api/problem.ts';
import type { IconName } from '../parts/button.tsx';
import { Problem } from '../parts/page.tsx';

/** The groups of the navigation, in this order. */
export const GROUPS = ['', 'Messaging', 'Settings', 'Operators'] as const;

export interface PageProps {
  /** Values of the path's `:names`. */
  readonly params: Readonly<Record<string, string>>;
}

/** One page of the dashboard. */
export interface Page {
  /** Such as `/dashboard/messages/:message_id`. */
  readonly path: string;
  /** For the window, and for the navigation if the page is in it. The page's own heading is its `PageHead`. */
  readonly title: string;
  /** Who may see it: who has one of these. `[]`: everybody who is signed in. `open`: without signing in. */
  readonly needs: Permission | readonly Permission[] | 'open';
  /** Its place in the navigation. Pages that are reached from another page have none. */
  readonly nav: { readonly group: (typeof GROUPS)[number]; readonly icon: IconName } | undefined;
  readonly view: ComponentType<PageProps>;
}

export function page(
  path: Page['path'],
  title: string,
  needs: Page['needs'],
  view: Page['view'],
  [group, icon]: readonly [group?: (typeof GROUPS)[number], icon?: IconName] = [],
): Page {
  return { path, title, needs, view, nav: group === undefined || icon === undefined ? undefined : { group, icon } };
}

interface Match {
  readonly page: Page;
  readonly params: Readonly<Record<string, string>>;
}

/** The page of a path, and the values of its `:names`. The first that fits. */
export function matchPage(pages: readonly Page[], path: string): Match | undefined {
  for (const page of pages) {
    const match = exec(path, page.path);
    if (match !== undefined) return { page, params: match.params };
  }
  return undefined;
}

/** Shows the matched page, anew for another address of the same page, and for tests. */
export function Route({ match: { page, params } }: { readonly match: Match }) {
  const View = page.view;
  return (
    <FaultBoundary key={`${page.path}${JSON.stringify(params)}${testing.value}`}>
      <View params={params} />
    </FaultBoundary>
  );
}

/** A page that throws is replaced by what went wrong; without this, nothing would be left of the frame either. */
class FaultBoundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Problem problem={asProblem(this.state.error)} retry={() => location.reload()} />;
  }
}
