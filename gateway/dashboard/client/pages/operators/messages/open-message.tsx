import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { AnswerOf } from '../../../../../api/endpoint.ts';
import type { findMessage } from '../../../../../endpoints/operators/messages.ts';
import { useLoad } from '../../../api/load.ts';
import { lookAt } from '../../../api/session.ts';
import { Loading, PageHead } from '../../../parts/page.tsx';
import type { PageProps } from '../../../router/page.ts';
import { messageHref } from '../../messages/message.ts';

/** A message of any account: its page in that account, where its webhooks and its batch are too. */
export function OpenMessagePage({ params: { message_id: id = '' } }: PageProps) {
  const { route } = useLocation();
  const found = useLoad<AnswerOf<typeof findMessage>>(`/v2/admin/messages/${encodeURIComponent(id)}`);
  const { data } = found;
  useEffect(() => {
    if (data === undefined) return;
    lookAt({ account_id: data.account_id, name: data.account_name });
    route(messageHref(id), true);
  }, [data, id, route]);
  return (
    <>
      <PageHead title="Message" back={{ href: '/dashboard/admin/messages', label: 'Find messages' }} />
      <Loading of={found}>{() => null}</Loading>
    </>
  );
}
