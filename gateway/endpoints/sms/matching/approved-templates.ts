import type { Db } from 'mongodb';
import type { Route } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import type { Clock } from '../../../../shared/platform/runtime/clock.ts';
import { nextTurn, turnOver } from '../../../../shared/platform/runtime/turns.ts';
import { type ApprovedTemplate, readApproved, readVersion } from '../../../../shared/templates/sms/store.ts';
import { comparedPattern } from '../../../../shared/templates/sms/template.ts';
import { type IndexedTemplate, TemplateIndex } from './match.ts';

export interface ApprovedTemplatesOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** How long a process trusts what it read. An approval or a rejection takes effect within this time. */
  readonly freshMs: number;
}

/**
 * Indices are read anew after this time even if the version is unchanged: a process may have died after it changed a
 * template and before it raised the version.
 */
const KEEP_MS = 60_000;
/** Templates kept in memory over all accounts, some 4 KB each. Beyond that the least recently used ones are dropped. */
const TEMPLATES_MAX = 100_000;
/** Indices kept in memory. The limit above does not bound those of senders without templates. */
const INDICES_MAX = 20_000;

/** Whose templates, and how their line breaks are compared. */
export type TemplateOwner = Pick<AccountDocument, '_id' | 'lineBreaks'>;

interface Kept {
  readonly version: number;
  readonly index: TemplateIndex;
  readonly readAtMs: number;
  /** When the store last confirmed the version. */
  checkedAtMs: number;
}

/**
 * The approved templates of senders, prepared for matching. Reading and preparing thousands of them takes tens of
 * milliseconds, so a process keeps them and asks the store every `freshMs` only for the account's version.
 */
export class ApprovedTemplates {
  readonly #options: ApprovedTemplatesOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<TemplateIndex>>();
  #templates = 0;

  constructor(options: ApprovedTemplatesOptions) {
    this.#options = options;
  }

  /** The templates that `sender` may use on `route`. */
  ofSender(account: TemplateOwner, sender: string, route: Route): Promise<TemplateIndex> {
    return this.#get(`${nameOf(account)} ${route} ${sender}`, account, sender, route);
  }

  /**
   * The templates of all senders and routes, to find out whether a text would fit elsewhere. Read only after a text
   * matched none of its sender's templates.
   */
  ofAccount(account: TemplateOwner): Promise<TemplateIndex> {
    return this.#get(nameOf(account), account);
  }

  /**
   * Concurrent callers that ask for the same index share one read. Rejects with the store's error, which is not kept.
   */
  async #get(key: string, account: TemplateOwner, sender?: string, route?: Route): Promise<TemplateIndex> {
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#options.clock.monotonicMs() - kept.checkedAtMs < this.#options.freshMs) {
      return kept.index;
    }
    const reading = this.#reading.get(key) ?? this.#refresh(key, account, sender, route);
    this.#reading.set(key, reading);
    try {
      return await reading;
    } finally {
      this.#reading.delete(key);
    }
  }

  async #refresh(key: string, account: TemplateOwner, sender?: string, route?: Route): Promise<TemplateIndex> {
    const { db, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const version = await readVersion(db, account._id);
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.version === version && nowMs - kept.readAtMs < KEEP_MS) {
      kept.checkedAtMs = nowMs;
      this.#keep(key, kept);
      return kept.index;
    }
    const index = new TemplateIndex();
    for await (const template of readApproved(db, account._id, sender, route)) {
      if (turnOver()) await nextTurn();
      const indexed = toIndexed(template, account);
      if (indexed !== undefined) index.add(indexed);
    }
    this.#keep(key, { version, index, readAtMs: nowMs, checkedAtMs: nowMs });
    return index;
  }

  /** A `Map` keeps the order of insertion, so the last entry is the one used last. */
  #keep(key: string, kept: Kept): void {
    this.#forget(key);
    this.#kept.set(key, kept);
    this.#templates += kept.index.templates.length;
    for (const oldest of this.#kept.keys()) {
      const fits = this.#templates <= TEMPLATES_MAX && this.#kept.size <= INDICES_MAX;
      if (fits || oldest === key) return;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#templates -= this.#kept.get(key)?.index.templates.length ?? 0;
    this.#kept.delete(key);
  }
}

/** After a change of the setting the texts are prepared anew. */
function nameOf({ _id, lineBreaks }: TemplateOwner): string {
  return lineBreaks === 'exact' ? `${_id} exact` : _id;
}

/** Undefined for malformed content. `templateFaults` refuses such templates, and no text could match one. */
function toIndexed(template: ApprovedTemplate, account: TemplateOwner): IndexedTemplate | undefined {
  const { dltId, name, senders, entityId } = template;
  const pattern = comparedPattern(template, account);
  return pattern && { dltId, name, senders, pattern, ...(entityId === undefined ? {} : { entityId }) };
}
