import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

interface EmptyProps {
  readonly icon?: IconName;
  /** One sentence: "No keys yet. Create one to send your first message." */
  readonly children: ComponentChildren;
  /** One button or link: what to do next. */
  readonly action?: ComponentChildren;
}

/** In place of a list that has nothing yet. */
export function Empty({ icon = 'list', children, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p>{children}</p>
      {action}
    </div>
  );
}

/** In place of a list while nothing was found among the entries that the gateway has looked at, which are not all. */
export function NothingYet() {
  return (
    <Empty icon="search">
      Nothing among those looked at so far. Load more to look further, or say more in the filter.
    </Empty>
  );
}

/** In place of a list whose filter finds nothing. */
export function NoResults({ clear }: { readonly clear: () => void }) {
  return (
    <Empty icon="search" action={<Button onClick={clear}>Clear filter</Button>}>
      No results for this filter.
    </Empty>
  );
}
