import type { ComponentChildren } from 'preact';
import { Brand } from '../parts/brand.tsx';
import type { Page } from '../router/page.ts';
import { LookingBanner } from './looking-banner.tsx';
import { Navigation, NavigationDrawer } from './navigation.tsx';
import { Silence } from './silence.tsx';
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
        <Navigation pages={pages} current={current} />
        <UserMenu />
      </aside>
      <main id="main" tabIndex={-1}>
        <LookingBanner />
        <Silence />
        {children}
      </main>
    </div>
  );
}
