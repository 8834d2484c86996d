import { useEffect, useState } from 'preact/hooks';
import { LocationProvider, useLocation } from 'preact-iso/router';
import { type ApiProblem, asProblem } from './api/problem.ts';
import { loadSession, session } from './api/session.ts';
import { Frame } from './frame/frame.tsx';
import { maySee } from './frame/navigation.tsx';
import { SecondFactorGate } from './pages/profile/second-factor-gate.tsx';
import { SignInPage } from './pages/sign-in/sign-in.tsx';
import { ConfirmAgain, SignInAgain } from './pages/sign-in/sign-in-again.tsx';
import { NoConnection } from './pages/states/no-connection.tsx';
import { NoPage } from './pages/states/no-page.tsx';
import { NotAllowed } from './pages/states/not-allowed.tsx';
import { PAGES } from './pages.tsx';
import { Toasts } from './parts/toast.tsx';
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
