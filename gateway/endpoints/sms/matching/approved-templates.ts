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
  /** Approvals and rejections take effect within this time. */
  readonly freshMs: number;
}

/** Time to read anew: a process may have died between changing a template and raising the version. */
const KEEP_MS = 60_000;
/** Over all accounts, some 4 KB each. Beyond that the least recently used are dropped. */
const TEMPLATES_MAX = 100_000;
/** Bounds senders without templates, which the limit above does not. */
const INDICES_MAX = 20_000;

export type TemplateOwner = Pick<AccountDocument, '_id' | 'lineBreaks'>;

interface Kept {
  readonly version: number;
  readonly index: TemplateIndex;
  readonly readAtMs: number;
  checkedAtMs: number;
}

/**
 * Approved templates of senders, prepared for matching. Preparing thousands takes tens of milliseconds, so they are
 * kept, and only the account's version is read every `freshMs`.
 */
export class ApprovedTemplates {
  readonly #options: ApprovedTemplatesOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<TemplateIndex>>();
  #templates = 0;

  constructor(options: ApprovedTemplatesOptions) {
    this.#options = options;
  }

  ofSender(account: TemplateOwner, sender: string, route: Route): Promise<TemplateIndex> {
    return this.#get(`${nameOf(account)} ${route} ${sender}`, account, sender, route);
  }

  /** To find where a text would fit that matched none of its sender's templates. */
  ofAccount(account: TemplateOwner): Promise<TemplateIndex> {
    return this.#get(nameOf(account), account);
  }

  /** Concurrent callers share one read. Rejects with the store's error, which is not kept. */
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

  /** A `Map` keeps the order of insertion: the last entry was used last. */
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

/** A changed setting gives another name, so the texts are prepared anew. */
function nameOf({ _id, lineBreaks }: TemplateOwner): string {
  return lineBreaks === 'exact' ? `${_id} exact` : _id;
}

/** Undefined for malformed content, which no text can match. `templateFaults` refuses such templates. */
function toIndexed(template: ApprovedTemplate, account: TemplateOwner): IndexedTemplate | undefined {
  const { dltId, name, senders, entityId } = template;
  const pattern = comparedPattern(template, account);
  return pattern && { dltId, name, senders, pattern, ...(entityId === undefined ? {} : { entityId }) };
}
