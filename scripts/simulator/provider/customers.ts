import { randomBytes } from 'node:crypto';
import { RecentCounts } from '../pace/pace.ts';
import { type Callbacks, SESSION_MS, unixSeconds } from './callbacks.ts';
import type { Json } from './http.ts';
import type { ProviderOptions } from './options.ts';
import { contactOf, type Person, Persons, senderOf } from './persons.ts';

export interface Said {
  readonly id: string;
  /** Resolves when the app has answered the message's callback with 200. */
  readonly taken: Promise<void>;
}

/** Message types that open no session, because the customer did not write anew. */
const NO_NEW_MESSAGE: readonly unknown[] = ['system', 'edit', 'revoke'];

/** The customers' phones. What a customer writes goes to the app and opens a session. */
export class Customers {
  readonly #callbacks: Callbacks;
  readonly #onEvent: ProviderOptions['onEvent'];
  readonly persons = new Persons();
  readonly #lastWroteAt = new Map<string, number>();
  readonly #ids = new RecentCounts(10_000);

  constructor(callbacks: Callbacks, onEvent: ProviderOptions['onEvent']) {
    this.#callbacks = callbacks;
    this.#onEvent = onEvent;
  }

  sessionOpen(customer: string): boolean {
    return Date.now() - (this.#lastWroteAt.get(this.persons.keyOf(customer)) ?? 0) < SESSION_MS;
  }

  /** True for ids of customers' messages, the last ten thousand at least. */
  wrote(id: string): boolean {
    return this.#ids.has(id);
  }

  says(from: string, text: string): Said {
    this.#onEvent?.({ kind: 'says', from, text });
    return this.sends(from, { type: 'text', text: { body: text } });
  }

  /** `message` has the type's own members, as in the Cloud API. */
  sends(customer: string, message: Readonly<Record<string, unknown>>): Said {
    const person = this.persons.of(customer);
    const id = `wamid.${randomBytes(16).toString('base64url')}`;
    this.#ids.add(id);
    const inGroup = 'group_id' in message;
    if (!inGroup && !NO_NEW_MESSAGE.includes(message.type))
      this.#lastWroteAt.set(this.persons.keyOf(customer), Date.now());
    const taken = this.#callbacks.add({
      contacts: [contactOf(person)],
      messages: [{ ...senderOf(person), id, timestamp: unixSeconds(), ...message }],
    });
    return { id, taken };
  }

  /** Changes what is known of a customer (persons.ts). */
  is(customer: string, told: Json): Person {
    const wroteAt = this.#lastWroteAt.get(this.persons.keyOf(customer));
    const person = this.persons.say(customer, told);
    if (wroteAt !== undefined) this.#lastWroteAt.set(this.persons.keyOf(customer), wroteAt);
    return person;
  }

  /** The customer changes numbers, and the app is told. The session stays open. */
  moves(customer: string, number: string): Said {
    const wroteAt = this.#lastWroteAt.get(this.persons.keyOf(customer)) ?? 0;
    const { before, after } = this.persons.move(customer, number);
    this.#lastWroteAt.set(this.persons.keyOf(number), wroteAt);
    const id = `wamid.${randomBytes(16).toString('base64url')}`;
    const { from } = senderOf(before);
    const system = {
      ...{
        type: 'user_changed_number',
        body: `User ${after.name} changed from ${from ?? before.userId} to ${after.hidden ? after.userId : number}`,
      },
      ...(!after.hidden && { wa_id: number }),
      ...(after.userId !== undefined && { user_id: after.userId, previous_user_id: before.userId }),
      ...(after.parentId !== undefined && { parent_user_id: after.parentId, previous_parent_user_id: before.parentId }),
    };
    // System messages have no contacts ("System messages webhook reference").
    const message = { ...(from !== undefined && { from }), id, timestamp: unixSeconds(), type: 'system', system };
    return { id, taken: this.#callbacks.add({ messages: [message] }) };
  }

  /** A call by the customer; it opens the session. */
  calls(customer: string): Said {
    const person = this.persons.of(customer);
    const id = `wacid.${randomBytes(16).toString('base64url')}`;
    this.#lastWroteAt.set(this.persons.keyOf(customer), Date.now());
    const call = { id, event: 'connect', direction: 'USER_INITIATED', timestamp: unixSeconds() };
    const taken = this.#callbacks.add(
      { contacts: [contactOf(person)], calls: [{ ...call, ...senderOf(person) }] },
      'calls',
    );
    return { id, taken };
  }

  /** Stops or resumes marketing messages in the chat app. */
  prefers(customer: string, value: 'stop' | 'resume'): Said {
    const person = this.persons.of(customer);
    const { profile: _, ...names } = contactOf(person);
    const preference = {
      ...names,
      ...{ detail: `User requested to ${value} marketing messages`, category: 'marketing_messages', value },
      timestamp: Number(unixSeconds()),
    };
    const taken = this.#callbacks.add(
      { contacts: [contactOf(person)], user_preferences: [preference] },
      'user_preferences',
    );
    return { id: '', taken };
  }
}
