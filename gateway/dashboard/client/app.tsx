import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, useLocation } from 'preact-iso/router';
import type { Permission } from './api/permission.ts';
import { type ApiProblem, asProblem } from './api/problem.ts';
import { loadSession, session } from './api/session.ts';
import { Frame, maySee } from './frame/frame.tsx';
import { SecondFactorGate } from './pages/profile/second-factor.tsx';
import { ConfirmAgain, SignInAgain, SignInPage } from './pages/sign-in/sign-in.tsx';
import { whoMay } from './pages/states/who-may.ts';
import { PAGES } from './pages.tsx';
import { LinkButton } from './parts/button.tsx';
import { Toasts } from './parts/dialog.tsx';
import { Empty, Gate, PageHead, Problem } from './parts/page.tsx';
import { matchPage, Route } from './router/route.tsx';

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

/** The page of the address, or what must come before it: signing in, a second factor. */
function Current() {
  const { path } = useLocation();
  const problem = useSession();
  const match = matchPage(PAGES, path);
  const who = session.value;
  if (match?.page.needs === 'open') return <Route match={match} />;
  if (problem !== undefined && who === undefined) return <NoConnection {...problem} />;
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

/** A user who may not see the overview, such as an operator, begins with the first page of the navigation. */
function FirstPage() {
  const { route } = useLocation();
  const first = PAGES.find((page) => page.nav !== undefined && maySee(page));
  useEffect(() => route(first?.path ?? '/dashboard/profile', true), [first, route]);
  return null;
}

/** Asks once who is signed in. Returns what went wrong with that, if anything. */
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

interface NoConnectionProps {
  readonly problem: ApiProblem;
  readonly retry: () => void;
}

/** The gateway does not even say who is signed in. */
function NoConnection({ problem, retry }: NoConnectionProps) {
  return (
    <Gate title="The dashboard is not reachable">
      <Problem problem={problem} retry={retry} />
    </Gate>
  );
}

/** No page has this address. */
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

/** The user's role may not see this page. */
function NotAllowed({ title, needs }: { readonly title: string; readonly needs: Permission | undefined }) {
  return (
    <>
      <PageHead title={title} />
      <Empty icon="key">{whoMay(needs ?? 'read', session.value?.account != null)}</Empty>
    </>
  );
}
