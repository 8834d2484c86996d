import type { Role } from '../people/users/user.ts';
import type { Act, Told } from '../platform/runtime/act.ts';
import { isoTimestamp } from '../platform/runtime/clock.ts';
import type { AccountId } from '../platform/runtime/ids.ts';

export interface Notice<Name extends string = string> {
  /** When it is sent, for whoever chooses among notices. */
  readonly when: string;
  /** Who may be told, and who of them is told by default. `self`: only the user whom it is about. */
  readonly mayGet: readonly Role[] | 'self';
  readonly getsUnasked: readonly Role[];
  /** Operators get the notice too. */
  readonly alsoOperators?: true;
  words(told: Readonly<Record<Name, Told>>): NoticeWords;
}

export interface NoticeWords {
  readonly subject: string;
  /** What happened, and what to do: a paragraph each. */
  readonly text: readonly string[];
  /** The dashboard's page to do it on: `/keys`. */
  readonly page: string;
  readonly operatorsPage?: string;
}

/** A kind of event about an account or one of its things. `Name`: the names of its members. */
export interface AccountEventKind<Name extends string = string> extends Notice<Name> {
  readonly channels: readonly ['account'];
  /** The members of its body, besides name and time. */
  readonly members: Readonly<Record<Name, Member>>;
}

/** The API's document takes the member's shape from it. */
export interface Member {
  readonly about: string;
  readonly id?: 'msg';
  readonly example: Told;
  readonly nullable?: true;
}

/** The event's `words` may use its members only. */
export function accountEvent<Name extends string>(kind: Omit<AccountEventKind<Name>, 'channels'>): AccountEventKind {
  return { ...kind, channels: ['account'] };
}

/** A condition (shared/conditions/catalogue.ts) that an account, or the operators, are told of when it begins. */
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

/** A condition brings its own words. */
export function conditionWords(page: (told: Readonly<Record<string, Told>>) => string): Notice['words'] {
  return (told) => ({
    subject: String(told.words).replace(/\.$/, ''),
    text: [String(told.words), String(told.what_to_do)],
    page: page(told),
  });
}

export interface AccountChange<Event extends string = string> extends Pick<Act<Event>, 'event' | 'at' | 'told'> {
  readonly account: AccountId;
  /** The key, user or webhook that it happened to. */
  readonly subject: string;
}

export function accountBody({ event, told, at }: Pick<AccountChange, 'event' | 'told' | 'at'>): object {
  return { event, ...told, timestamp: isoTimestamp(at), channel: 'account' };
}
