import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { exec, useLocation } from 'preact-iso/router';
import { type ApiProblem, asProblem, noConnection } from '../api/problem.ts';
import { Problem } from '../parts/problem.tsx';
import type { Page, PageProps } from './page.ts';

export interface Match {
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

/** Shows the matched page. While its code is on the way, the page before stays. */
export function Route({ match }: { readonly match: Match }) {
  const [shown, setShown] = useState<Match & { readonly View: ComponentType<PageProps> }>();
  const [problem, setProblem] = useState<ApiProblem>();
  const { path } = useLocation();
  useEffect(() => {
    let left = false;
    match.page.load().then(
      (View) => {
        if (left) return;
        setProblem(undefined);
        setShown({ ...match, View });
      },
      () => left || hasReloaded() || setProblem(noConnection()),
    );
    return () => {
      left = true;
    };
  }, [path]);
  if (problem !== undefined) return <Problem problem={problem} retry={() => location.reload()} />;
  if (shown === undefined) return null;
  const { View, page, params } = shown;
  const key = page.path + JSON.stringify(params);
  return (
    <FaultBoundary key={key}>
      <View params={params} />
    </FaultBoundary>
  );
}

/** After an update of the gateway the old files are gone: the newer page knows the new ones. Once, in case they are missing too. */
function hasReloaded(): boolean {
  const url = new URL(location.href);
  const isFirst = !url.searchParams.has('reloaded');
  url.searchParams.set('reloaded', '1');
  if (isFirst) location.replace(url);
  return isFirst;
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
