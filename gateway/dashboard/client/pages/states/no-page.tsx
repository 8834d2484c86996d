import { LinkButton } from '../../parts/button.tsx';
import { Empty } from '../../parts/empty.tsx';
import { PageHead } from '../../parts/page.tsx';

/** No page has this address. */
export function NoPage() {
  return (
    <>
      <PageHead title="Page not found" />
      <Empty icon="search" action={<LinkButton href="/dashboard">Go to the start</LinkButton>}>
        This address leads nowhere. It may have been mistyped, or what it showed is gone.
      </Empty>
    </>
  );
}
