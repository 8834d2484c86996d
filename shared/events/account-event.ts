import type { Role } from '../people/users/user.ts';
import type { Act, Told } from '../platform/runtime/act.ts';
import { isoTimestamp } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

/** What people are told by e-mail. */
export interface Notice<Name extends string = string> {
  /** What it tells of, for whoever chooses among them. */
  readonly when: string;
  /** Who may be told; of these, who is told unless they say otherwise. `self`: only the user whom it is about. */
  readonly mayGet: readonly Role[] | 'self';
  readonly getsUnasked: readonly Role[];
  /** Of an account's event: operators get it too. */
  readonly alsoOperators?: true;
  words(told: Readonly<Record<Name, Told>>): NoticeWords;
}

export interface NoticeWords {
  readonly subject: string;
  /** What happened, and what to do: a paragraph each. */
  readonly text: readonly string[];
  /** Where on the dashboard that is done: `/keys`. */
  readonly page: string;
  /** For operators who are told of it too, where that is another page. */
  readonly operatorsPage?: string;
}

/** What happened to an account or one of its things. `Name`: the names of its members. */
export interface AccountEventKind<Name extends string = string> extends Notice<Name> {
  readonly channels: readonly ['account'];
  /** What its body tells besides its name and time: what each member is, and an example of it. */
  readonly members: Readonly<Record<Name, Member>>;
}

/** What an event tells: its shape in the API's document follows from it. */
export interface Member {
  readonly about: string;
  /** It is an id of ours. */
  readonly id?: 'msg';
  readonly example: Told;
  readonly nullable?: true;
}

/** An entry of the catalogue: its words know its members. */
export function accountEvent<Name extends string>(kind: Omit<AccountEventKind<Name>, 'channels'>): AccountEventKind {
  return { ...kind, channels: ['account'] };
}

/** Of a condition (shared/conditions/catalogue.ts) that an account, or the operators, are told of when it begins. `page`: as in `NoticeWords`. */
export function conditionEvent<Name extends string>(
  kind: Omit<AccountEventKind<Name | 'words' | 'what_to_do'>, 'channels' | 'words' | 'members'> & {
    readonly members: Readonly<Record<Name, Member>>;
    readonly example: readonly [string, string];
    page(told: Readonly<Record<Name, Told>>): string;
  },
): AccountEventKind {
  const { members, example, page, ...rest } = kind;
  const [words, todo] = example;
  const said = {
    words: { about: 'What is the case.', example: words },
    what_to_do: { about: 'What to do.', example: todo },
  };
  return accountEvent<string>({ ...rest, members: { ...members, ...said }, words: conditionWords(page) });
}

/** The words of a condition, which bring their own. */
export function conditionWords(page: (told: Readonly<Record<string, Told>>) => string): Notice['words'] {
  return (told) => ({
    subject: String(told.words).replace(/\.$/, ''),
    text: [String(told.words), String(told.what_to_do)],
    page: page(told),
  });
}

/** An event of an account that is to be announced. */
export interface AccountChange<Event extends string = string> extends Pick<Act<Event>, 'event' | 'at' | 'told'> {
  readonly account: AccountId;
  /** What it happened to: a key, a user, a webhook. */
  readonly subject: string;
}

export function accountBody({ event, told, at }: Pick<AccountChange, 'event' | 'told' | 'at'>): object {
  return { event, ...told, timestamp: isoTimestamp(at), channel: 'account' };
}
