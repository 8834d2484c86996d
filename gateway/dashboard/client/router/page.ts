import type { ComponentType } from 'preact';
import type { Permission } from '../api/permission.ts';
import type { IconName } from '../parts/icon.tsx';

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
  /** Who may see it: who has one of these. Absent: everybody who is signed in. `open`: without signing in. */
  readonly needs?: Permission | readonly Permission[] | 'open';
  /** Its place in the navigation. Pages that are reached from another page have none. */
  readonly nav?: { readonly group: (typeof GROUPS)[number]; readonly icon: IconName };
  readonly view: ComponentType<PageProps>;
}
