import { useLoad } from '../../api/load.ts';

interface OwnSender {
  readonly sender: string;
  readonly routes: readonly string[];
  readonly state: 'submitted' | 'approved' | 'rejected';
}

/** As many as a list offers. */
const READ = 500;

/** The senders that the account may use, by name. */
export function useOwnSenders(): readonly OwnSender[] {
  const found =
    useLoad<{ readonly data: readonly OwnSender[] }>('/v2/account/senders', { limit: READ }).data?.data ?? [];
  return found.filter(({ state }) => state === 'approved');
}
