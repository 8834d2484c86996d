import type { Json } from './http.ts';

/** A customer with what the app may see of them. Without `number`, or with `hidden`, it sees no number. */
export interface Person {
  readonly number?: string;
  readonly hidden?: boolean;
  readonly userId?: string;
  readonly parentId?: string;
  readonly username?: string;
  readonly name: string;
}

/**
 * Who customers are. One of whom nothing was said has the number, or the user id, by which they are called, and nothing else. Calls
 * with ids and names as the Cloud API's "Business-scoped user IDs" has them.
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

  /** One name for each person, whichever they are called by. */
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

  /** From now on the person has this number, and other ids: a change of number makes them. Returns who it was before. */
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

/** An entry of `contacts`. */
export function contactOf({ number, hidden, userId, parentId, username, name }: Person): { readonly profile: object } {
  return {
    profile: { name, ...given('username', username) },
    ...given('wa_id', hidden ? undefined : number),
    ...given('user_id', userId),
    ...given('parent_user_id', parentId),
  };
}

/** Who a message, or a call, is from. */
export function senderOf({ number, hidden, userId, parentId }: Person): { readonly from?: string } {
  return {
    ...given('from', hidden ? undefined : number),
    ...given('from_user_id', userId),
    ...given('from_parent_user_id', parentId),
  };
}

/** The answer to the button that asks for the number. Undefined for one who has none. */
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
 * The number by which the provider knows a customer: it is in answers and statuses, and the customer's messages come from it. Like
 * the Cloud API for many numbers of Brazil, it leaves out the ninth digit of a mobile number. Other numbers stay as they are.
 */
export function waIdOf(number: string): string {
  return number.replace(/^(55[1-9]{2})9(\d{8})$/, '$1$2');
}

/** A customer who shows no number is known by a user id. */
export const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;
