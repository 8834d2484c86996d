import { Component, type ComponentChildren } from 'preact';
import { exec } from 'preact-iso/router';
import { testing } from '../api/looking.ts';
import { asProblem } from '../api/problem.ts';
import { Problem } from '../parts/problem.tsx';
import type { Page } from './page.ts';

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
