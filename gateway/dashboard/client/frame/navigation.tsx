import { useState } from 'preact/hooks';
import { looking } from '../api/looking.ts';
import { hasAccount, mayAny } from '../api/session.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { GROUPS, type Page } from '../router/page.ts';
import { ModeSwitch } from './mode-switch.tsx';

interface NavigationProps {
  readonly pages: readonly Page[];
  readonly current: Page | undefined;
}

/** Links to the pages that the user may see, in their groups. An operator who is in an account sees that one's alone. */
export function Navigation({ pages, current }: NavigationProps) {
  return (
    <nav class="navigation" aria-label="Main">
      {GROUPS.map((group) => {
        if (group === 'Operators' && looking.value !== undefined) return null;
        const links = pages.filter((page) => page.nav?.group === group && maySee(page));
        if (links.length === 0) return null;
        return (
          <div key={group} class="nav-group">
            {group !== '' && <h2>{group}</h2>}
            <ul>
              {links.map((page) => (
                <li key={page.path}>
                  <a href={page.path} aria-current={isWithin(current, page) ? 'page' : undefined}>
                    {page.nav && <Icon name={page.nav.icon} />}
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** The same on a narrow screen, from behind a button. */
export function NavigationDrawer(props: NavigationProps) {
  const [openOn, setOpenOn] = useState<Page | 'none'>();
  const here = props.current ?? 'none';
  return (
    <>
      <button type="button" class="menu" aria-label="Menu" onClick={() => setOpenOn(here)}>
        <Icon name="menu" />
      </button>
      {openOn === here && (
        <Dialog title="Menu" side="left" onClose={() => setOpenOn(undefined)}>
          <ModeSwitch />
          <Navigation {...props} />
        </Dialog>
      )}
    </>
  );
}

/** An account's page is of no use to an operator who is in no account. */
export function maySee({ needs = [], path }: Page): boolean {
  if (needs === 'open') return true;
  const isAllowed = needs.length === 0 || mayAny(...[needs].flat());
  return isAllowed && (hasAccount() || path.startsWith('/dashboard/admin') || path === '/dashboard/profile');
}

/** First pages: all others are below them, by their addresses alone. */
const ROOTS: readonly string[] = ['/dashboard', '/dashboard/admin'];

/** Whether `page` or a page below it is open: `/dashboard/messages` for one message. */
function isWithin(current: Page | undefined, page: Page): boolean {
  if (current === undefined) return false;
  return current.path === page.path || (!ROOTS.includes(page.path) && current.path.startsWith(`${page.path}/`));
}
