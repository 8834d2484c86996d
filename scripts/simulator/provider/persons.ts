import type { Json } from './http.ts';

/** What the app may see of a customer. Without `number`, or with `hidden`, it sees no number. */
export interface Person {
  readonly number?: string;
  readonly hidden?: boolean;
  readonly userId?: string;
  readonly parentId?: string;
  readonly username?: string;
  readonly name: string;
}

/**
 * Who the customers are. Unknown ones have only the number or user id by which they are called. Ids and names are as in
 * the Cloud API's "Business-scoped user IDs".
 */
export class Persons {
  readonly #byName = new Map<string, Person>();

  /** By number or user id. */
  of(customer: string): Person {
    const name = waIdOf(customer);
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    return { name: 'Simulated customer', ...(USER_ID.test(name) ? { userId: name } : { number: name }) };
  }

  /** A person's key, whichever way the person is called. */
  keyOf(customer: string): string {
    const { number, userId } = this.of(customer);
    return userId ?? number ?? waIdOf(customer);
  }

  /** `{"user_id", "parent_user_id", "username", "name", "shows_number"}`, each optional. */
  say(customer: string, told: Json): Person {
    const before = this.of(customer);
    const text = (name: string) => (typeof told[name] === 'string' ? String(told[name]) : undefined);
    return this.#keep({
      ...before,
      ...given('userId', text('user_id')),
      ...given('parentId', text('parent_user_id')),
      ...given('username', text('username')),
      ...given('name', text('name')),
      ...(typeof told.shows_number === 'boolean' && { hidden: !told.shows_number }),
    });
  }

  /** Gives the person another number and therefore new ids. Returns both states. */
  move(customer: string, number: string): { readonly before: Person; readonly after: Person } {
    const before = this.of(customer);
    const after = {
      ...before,
      number,
      ...given('userId', before.userId && nextId(before.userId)),
      ...given('parentId', before.parentId && nextId(before.parentId)),
    };
    for (const name of namesOf(before)) this.#byName.delete(name);
    return { before, after: this.#keep(after) };
  }

  #keep(person: Person): Person {
    for (const name of namesOf(person)) this.#byName.set(name, person);
    return person;
  }
}

export function namesOf({ number, userId, parentId }: Person): readonly string[] {
  return [number, userId, parentId].flatMap((name) => name ?? []);
}

export function contactOf({ number, hidden, userId, parentId, username, name }: Person): { readonly profile: object } {
  return {
    profile: { name, ...given('username', username) },
    ...given('wa_id', hidden ? undefined : number),
    ...given('user_id', userId),
    ...given('parent_user_id', parentId),
  };
}

/** The sender members of a message or a call. */
export function senderOf({ number, hidden, userId, parentId }: Person): { readonly from?: string } {
  return {
    ...given('from', hidden ? undefined : number),
    ...given('from_user_id', userId),
    ...given('from_parent_user_id', parentId),
  };
}

/** The reply to a request for the number; undefined for a person without one. */
export function sharedContact({ number, name }: Person): Json | undefined {
  if (number === undefined) return undefined;
  const phone = { phone: `+${number}`, wa_id: number, type: 'CELL' };
  const contact = { origin: 'contact_request', name: { formatted_name: name, first_name: name }, phones: [phone] };
  return { type: 'contacts', contacts: [contact] };
}

function nextId(id: string): string {
  return id.replace(/\d{1,9}$/, (digits) => String(Number(digits) + 1).padStart(digits.length, '0'));
}

function given<Name extends string>(name: Name, value: string | undefined): { readonly [_ in Name]?: string } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [_ in Name]?: string }); // the one member
}

/**
 * The customer's number at the provider, in answers, statuses and messages. Like the Cloud API for many Brazilian
 * numbers, it drops a mobile number's ninth digit. Other numbers are unchanged.
 */
export function waIdOf(number: string): string {
  return number.replace(/^(55[1-9]{2})9(\d{8})$/, '$1$2');
}

/** Identifies a customer who shows no number. */
export const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;
