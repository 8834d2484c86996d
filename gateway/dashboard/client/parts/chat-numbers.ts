import type { AnswerOf } from '../../../api/endpoint.ts';
import type { chatNumbers } from '../../../endpoints/chatapp/numbers.ts';
import { useLoad } from '../api/load.ts';

type ChatNumbers = AnswerOf<typeof chatNumbers>;

/** The account's chat-app numbers, the default first. Empty until loaded. */
export function useChatNumbers(): ChatNumbers['numbers'] {
  return useLoad<ChatNumbers>('/v2/chatapp/numbers').data?.numbers ?? [];
}

export function optionsOf(numbers: ChatNumbers['numbers']): readonly (readonly [value: string, label: string])[] {
  return numbers.map(({ number }) => [number, number]);
}
