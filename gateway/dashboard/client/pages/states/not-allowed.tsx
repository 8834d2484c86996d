import type { Permission } from '../../api/session.ts';
import { Empty } from '../../parts/empty.tsx';
import { PageHead } from '../../parts/page.tsx';

/** Who has a permission, in words (docs/specification: roles give scopes). */
const WHO: Readonly<Record<Permission, string>> = {
  read: 'users of an account',
  send: 'senders, developers and owners',
  otp: 'senders, developers and owners',
  manage: 'developers and owners',
  owner: 'owners',
  admin: 'operators',
};

/** The user's role may not see this page. */
export function NotAllowed({ title, needs }: { readonly title: string; readonly needs: Permission | undefined }) {
  return (
    <>
      <PageHead title={title} />
      <Empty icon="key">
        This page is for {WHO[needs ?? 'read']} only. Ask an owner of your account for that role.
      </Empty>
    </>
  );
}
