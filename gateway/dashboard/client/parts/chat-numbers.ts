import type { AnswerOf } from '../../../api/endpoint.ts';
import type { chatNumbers } from '../../../endpoints/chatapp/numbers.ts';
import { useLoad } from '../api/load.ts';

type ChatNumbers = AnswerOf<typeof chatNumbers>;

/** The account's numbers on the chat-app channel, the default first. None until they are read. */
export function useChatNumbers(): ChatNumbers['numbers'] {
  return useLoad<ChatNumbers>('/v2/chatapp/numbers').data?.numbers ?? [];
}

/** For a field to choose one. */
export function optionsOf(numbers: ChatNumbers['numbers']): readonly (readonly [value: string, label: string])[] {
  return numbers.map(({ number }) => [number, number]);
}
