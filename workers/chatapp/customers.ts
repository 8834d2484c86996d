import type { Db } from 'mongodb';
import { inheritOptIns } from '../../shared/carriers/chat-opt-in-store.ts';
import { inheritOptOuts } from '../../shared/carriers/opt-outs/store.ts';
import { objectOf } from '../../shared/carriers/providers/graph-error.ts';
import type { InboundItem, InboxItemDocument } from '../../shared/messages/chat-inbox.ts';
import { isCustomerUserId } from '../../shared/messages/document/recipient.ts';
import type { Profile } from '../../shared/money/conversations/conversation.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { linkCustomers, type Told } from './link.ts';
import type { MatchedMessage } from './match-statuses.ts';

/** How much of what statuses told is remembered, and for how long. Then all is forgotten, and each is looked up when it is next told. */
const REMEMBERED_MAX = 10_000;
const REMEMBERED_MS = 3_600_000;

/** Learns who customers are: by which other names the provider knows them, and what they are called. */
export class Customers {
  readonly #db: Db;
  readonly #clock: Clock;
  /** What is stored already. Each message tells it four times: in its answer and in three statuses. */
  readonly #known = new Set<string>();
  #sinceMs = 0;

  constructor(db: Db, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  /** From answers to sends, and from statuses. May be repeated. */
  async learnFromSends(tolds: readonly Told[]): Promise<void> {
    this.#forget(tolds.length);
    const fresh = new Map<string, Told>();
    for (const told of tolds) {
      const key = JSON.stringify([told.account, told.names, told.profile]);
      const isNews = new Set(told.names).size > 1 || told.profile !== undefined;
      if (isNews && !this.#known.has(key)) fresh.set(key, told);
    }
    await this.#link([...fresh.values()]);
    for (const key of fresh.keys()) this.#known.add(key);
  }

  /** From what customers wrote or wished, and from what the provider wrote of them. One read; a write where something is news. */
  async learnFrom(items: readonly InboxItemDocument[]): Promise<void> {
    await this.#link(
      items.flatMap(({ account, what }) => {
        if (what.kind === 'preference') return [toldOf(account, [what.customer], what.who)];
        return what.kind === 'message' ? toldIn(account, what) : [];
      }),
    );
  }

  #link(tolds: readonly Told[]): Promise<void> {
    return linkCustomers(this.#db, tolds, this.#clock.now(), async ({ account, names, left }) => {
      await inheritOptIns(this.#db, this.#clock, account, names);
      await inheritOptOuts(this.#db, account, left, names);
    });
  }

  #forget(room: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#known.size + room <= REMEMBERED_MAX && nowMs - this.#sinceMs < REMEMBERED_MS) return;
    this.#known.clear();
    this.#sinceMs = nowMs;
  }
}

/** A status names the customer as the provider knows them (Cloud API, Webhooks: `recipient_id`, `recipient_user_id`). Pure. */
export function toldByStatuses(matched: readonly MatchedMessage[]): readonly Told[] {
  return matched.flatMap(({ message: { account, to }, statuses }) =>
    statuses.map(({ recipient, who }) => toldOf(account, [to, recipient], who)),
  );
}

/** What a message tells of its customer. Pure. */
function toldIn(account: AccountId, what: InboundItem): readonly Told[] {
  const { from, who, sentAt, more = {} } = what;
  const wroteAt = { wroteAt: sentAt };
  if (what.type === 'system') {
    const change = changeOf(from, who, objectOf(more.system) ?? {});
    return change === undefined ? [] : [{ account, ...change, ...wroteAt }];
  }
  if (from === null) return [];
  const told = { ...toldOf(account, [from], who), ...wroteAt };
  const number = what.type === 'contacts' ? sharedNumber(more.contacts) : undefined;
  return number === undefined ? [told] : [told, { ...toldOf(account, [from, number], { number }), ...wroteAt }];
}

function toldOf(account: AccountId, names: readonly (string | undefined)[], who: Profile = {}): Told {
  const { userId, parentId } = who;
  const profile = Object.keys(who).length === 0 ? {} : { profile: who };
  return { account, names: unique([...names, userId, parentId]), ...profile };
}

/** Of the system's messages those that say that a person has other names now (WhatsApp Cloud API, "System messages webhook reference"). */
const CHANGES: readonly unknown[] = ['user_changed_number', 'user_changed_user_id'];

function changeOf(from: string | null, who: Profile = {}, system: Json): Omit<Told, 'account'> | undefined {
  if (!CHANGES.includes(system.type)) return undefined;
  const now: Profile = defined({
    number: digits(system.wa_id) ?? digits(system.new_wa_id),
    userId: userId(system.user_id),
    parentId: userId(system.parent_user_id),
  });
  const current = unique([now.number, now.userId, now.parentId]);
  const before = unique([
    from ?? undefined,
    who.userId,
    who.parentId,
    digits(system.customer),
    userId(system.previous_user_id),
    userId(system.previous_parent_user_id),
  ]).filter((name) => !current.includes(name));
  if (before.length === 0 || current.length === 0) return undefined;
  const changed = system.type === 'user_changed_number' ? 'number' : 'id';
  return { names: [...before, ...current], profile: now, changed };
}

/**
 * The number that a customer gave by the button that asks for it. Of other contacts that customers send nobody knows whose they are:
 * anybody can send somebody else's.
 */
function sharedNumber(contacts: unknown): string | undefined {
  const [contact, another] = list(contacts).map(objectOf);
  if (contact?.origin !== 'contact_request' || another !== undefined) return undefined;
  const [phone] = list(contact.phones).map(objectOf);
  return digits(phone?.wa_id) ?? digits(String(phone?.phone ?? '').replaceAll(/[\s().+-]/g, ''));
}

type Json = Readonly<Record<string, unknown>>;

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function digits(value: unknown): string | undefined {
  return typeof value === 'string' && /^[1-9]\d{6,14}$/.test(value) ? value : undefined;
}

function userId(value: unknown): string | undefined {
  return typeof value === 'string' && isCustomerUserId(value) ? value : undefined;
}

function unique(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.flatMap((name) => name ?? []))];
}
