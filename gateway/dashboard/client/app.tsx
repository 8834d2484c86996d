import { Component, type ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { exec, LocationProvider, useLocation } from 'preact-iso/router';
import { type ApiProblem, asProblem, testing } from './api/http.ts';
import { type Permission, whoMay } from './api/permission.ts';
import { loadSession, session } from './api/session.ts';
import { Frame, maySee, type Page } from './frame/frame.tsx';
import { SecondFactorGate } from './pages/second-factor.tsx';
import { ConfirmAgain, SignInAgain, SignInPage } from './pages/sign-in.tsx';
import { PAGES } from './pages.tsx';
import { Toasts } from './parts/form.tsx';
import { Empty, Gate, PageHead, Problem } from './parts/page.tsx';
import { LinkButton } from './parts/value.tsx';

const HOME = '/dashboard';

export function App() {
  return (
    <LocationProvider scope="/dashboard">
      <Current />
      <SignInAgain />
      <ConfirmAgain />
      <Toasts />
    </LocationProvider>
  );
}

/** The page for the current address, unless signing in or setting up a second factor comes first. */
function Current() {
  const { path } = useLocation();
  const problem = useSession();
  const match = matchPage(path);
  const who = session.value;
  if (match?.page.needs === 'open') return <Route match={match} />;
  if (problem !== undefined && who === undefined) {
    return (
      <Gate title="The dashboard is not reachable">
        <Problem {...problem} />
      </Gate>
    );
  }
  if (who === undefined) return null;
  if (who === null) return <SignInPage />;
  if (who.missing.includes('second_factor')) return <SecondFactorGate />;
  const visible = match !== undefined && maySee(match.page);
  if (path === HOME && !visible) return <FirstPage />;
  return (
    <Frame pages={PAGES} current={match?.page}>
      {match === undefined ? (
        <NoPage key={path} />
      ) : visible ? (
        <Route match={match} />
      ) : (
        <NotAllowed key={path} title={match.page.title} needs={[match.page.needs ?? []].flat()[0]} />
      )}
    </Frame>
  );
}

/** For users who may not see the overview, such as operators: the first page of their navigation. */
function FirstPage() {
  const { route } = useLocation();
  const first = PAGES.find((page) => page.nav !== undefined && maySee(page));
  useEffect(() => route(first?.path ?? '/dashboard/profile', true), [first, route]);
  return null;
}

/** Asks once who is signed in; returns the problem if that failed. */
function useSession(): { readonly problem: ApiProblem; readonly retry: () => void } | undefined {
  const [problem, setProblem] = useState<ApiProblem>();
  const ask = (): void => {
    loadSession().then(
      () => setProblem(undefined),
      (error) => setProblem(asProblem(error)),
    );
  };
  useEffect(ask, []);
  return problem && { problem, retry: ask };
}

function NoPage() {
  return (
    <>
      <PageHead title="Page not found" />
      <Empty icon="search" action={<LinkButton href="/dashboard">Go to the start</LinkButton>}>
        This address leads nowhere. It may have been mistyped, or what it showed is gone.
      </Empty>
    </>
  );
}

function NotAllowed({ title, needs }: { readonly title: string; readonly needs: Permission | undefined }) {
  return (
    <>
      <PageHead title={title} />
      <Empty icon="key">{whoMay(needs ?? 'read', session.value?.account != null)}</Empty>
    </>
  );
}

interface Match {
  readonly page: Page;
  readonly params: Readonly<Record<string, string>>;
}

function matchPage(path: string): Match | undefined {
  for (const page of PAGES) {
    const match = exec(path, page.path);
    if (match !== undefined) return { page, params: match.params };
  }
  return undefined;
}

/** Keyed by address and test mode, so that the page is mounted anew when either changes. */
function Route({ match: { page, params } }: { readonly match: Match }) {
  const View = page.view;
  return (
    <FaultBoundary key={`${page.path}${JSON.stringify(params)}${testing.value}`}>
      <View params={params} />
    </FaultBoundary>
  );
}

/** Shows the error when a page throws; otherwise the frame would vanish too. */
class FaultBoundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error });
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Problem problem={asProblem(this.state.error)} retry={() => location.reload()} />;
  }
}
