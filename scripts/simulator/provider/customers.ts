import { randomBytes } from 'node:crypto';
import type { Callbacks } from './callbacks.ts';
import type { ProviderOptions } from './options.ts';
import { RecentCounts } from './recent-counts.ts';
import { SESSION_MS, unixSeconds } from './status-value.ts';
import { USER_ID, waIdOf } from './wa-id.ts';

/** A message that a customer wrote. */
export interface Said {
  readonly id: string;
  /** Resolves when the app has answered the message's callback with 200. */
  readonly taken: Promise<void>;
}

/** Types of messages that are no new message of the customer, so they open no session. */
const NO_NEW_MESSAGE: readonly unknown[] = ['system', 'edit', 'revoke'];

/** The customers with their phones. What a customer writes goes to the app, and opens that customer's session. */
export class Customers {
  readonly #callbacks: Callbacks;
  readonly #onEvent: ProviderOptions['onEvent'];
  readonly #lastWroteAt = new Map<string, number>();
  readonly #ids = new RecentCounts(10_000);

  constructor(callbacks: Callbacks, onEvent: ProviderOptions['onEvent']) {
    this.#callbacks = callbacks;
    this.#onEvent = onEvent;
  }

  sessionOpen(customer: string): boolean {
    return Date.now() - (this.#lastWroteAt.get(waIdOf(customer)) ?? 0) < SESSION_MS;
  }

  /** Whether this is the id of a message of a customer; of the last ten thousand at least. */
  wrote(id: string): boolean {
    return this.#ids.has(id);
  }

  says(from: string, text: string): Said {
    this.#onEvent?.({ kind: 'says', from, text });
    return this.sends(from, { type: 'text', text: { body: text } });
  }

  /** Sends a message of any type. `message` has that type's own members, as in the Cloud API. */
  sends(customer: string, message: Readonly<Record<string, unknown>>): Said {
    const from = waIdOf(customer);
    const isUser = USER_ID.test(from);
    const id = `wamid.${randomBytes(16).toString('base64url')}`;
    this.#ids.add(id);
    const inGroup = 'group_id' in message;
    if (!inGroup && !NO_NEW_MESSAGE.includes(message.type)) this.#lastWroteAt.set(from, Date.now());
    const taken = this.#callbacks.add({
      contacts: [contactOf(from)],
      messages: [{ [isUser ? 'from_user_id' : 'from']: from, id, timestamp: unixSeconds(), ...message }],
    });
    return { id, taken };
  }

  /** Rings, and hangs up. It opens the session. */
  calls(customer: string): Said {
    const from = waIdOf(customer);
    const id = `wacid.${randomBytes(16).toString('base64url')}`;
    this.#lastWroteAt.set(from, Date.now());
    const call = { id, event: 'connect', direction: 'USER_INITIATED', timestamp: unixSeconds() };
    const taken = this.#callbacks.add(
      { contacts: [contactOf(from)], calls: [{ ...call, [USER_ID.test(from) ? 'from_user_id' : 'from']: from }] },
      'calls',
    );
    return { id, taken };
  }

  /** Stops or resumes marketing messages in the chat app. */
  prefers(customer: string, value: 'stop' | 'resume'): Said {
    const from = waIdOf(customer);
    const preference = {
      [USER_ID.test(from) ? 'user_id' : 'wa_id']: from,
      ...{ detail: `User requested to ${value} marketing messages`, category: 'marketing_messages', value },
      timestamp: Number(unixSeconds()),
    };
    const taken = this.#callbacks.add(
      { contacts: [contactOf(from)], user_preferences: [preference] },
      'user_preferences',
    );
    return { id: '', taken };
  }
}

function contactOf(from: string): object {
  return { profile: { name: 'Simulated customer' }, [USER_ID.test(from) ? 'user_id' : 'wa_id']: from };
}
