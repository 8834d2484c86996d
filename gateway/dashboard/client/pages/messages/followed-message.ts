import { useEffect } from 'preact/hooks';
import { useLive } from '../../api/live.ts';
import { type Loaded, useLoad } from '../../api/load.ts';
import { useReadAgain } from '../../api/read-again.ts';
import type { Message } from './message.ts';

/** What `path` shows of a message, read again when its state changes. The stream tells that at once, of the newest messages only. */
export function useFollowedMessage<T extends Pick<Message, 'status'>>(path: string, id: string): Loaded<T> {
  const message = useLoad<T>(path);
  const newest = useLive<{ readonly data: readonly Message[] }>('messages');
  const status = newest?.data.find(({ message_id }) => message_id === id)?.status;
  const { follow } = message;
  const shown = message.data?.status;
  useEffect(() => {
    if (status !== undefined && shown !== undefined && status !== shown) follow();
  }, [status, shown, follow]);
  useReadAgain(message, isOpen);
  return message;
}

function isOpen({ status }: Pick<Message, 'status'>): boolean {
  return status === 'queued' || status === 'sent';
}
