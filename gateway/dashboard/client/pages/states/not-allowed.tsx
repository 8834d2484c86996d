import type { Permission } from '../../api/permission.ts';
import { session } from '../../api/session.ts';
import { Empty } from '../../parts/empty.tsx';
import { PageHead } from '../../parts/page.tsx';
import { whoMay } from './who-may.ts';

/** The user's role may not see this page. */
export function NotAllowed({ title, needs }: { readonly title: string; readonly needs: Permission | undefined }) {
  return (
    <>
      <PageHead title={title} />
      <Empty icon="key">{whoMay(needs ?? 'read', session.value?.account != null)}</Empty>
    </>
  );
}
