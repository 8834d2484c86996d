import type { EntryOf } from '../../../../api/endpoint.ts';
import type { senders } from '../../../../endpoints/senders/senders.ts';
import { useLoad } from '../../api/load.ts';

type OwnSender = EntryOf<typeof senders>;

/** As many as a list offers. */
const READ = 500;

/** The senders that the account may use, by name. */
export function useOwnSenders(): readonly OwnSender[] {
  const found =
    useLoad<{ readonly data: readonly OwnSender[] }>('/v2/account/senders', { limit: READ }).data?.data ?? [];
  return found.filter(({ state }) => state === 'approved');
}
