import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { isSilent } from '../api/live.ts';
import { looking } from '../api/looking.ts';
import { lookAt } from '../api/session.ts';
import { Brand } from '../parts/brand.tsx';
import { Button } from '../parts/button.tsx';
import { Notice } from '../parts/notice.tsx';
import type { Page } from '../router/page.ts';
import { ModeSwitch, TestBanner } from './mode-switch.tsx';
import { Navigation, NavigationDrawer } from './navigation.tsx';
import { UserMenu } from './user-menu.tsx';

interface FrameProps {
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
  readonly children: ComponentChildren;
}

/** What is around every page of a signed-in user: navigation, who one is, and how to leave. */
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

/** The notice on pages with live values while no values come. */
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

/** Whose account an operator is in, on each of its pages. */
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
