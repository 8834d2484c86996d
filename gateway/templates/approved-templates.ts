import { setImmediate } from 'node:timers/promises';
import type { Db } from 'mongodb';
import type { Route } from '../../shared/messages/message.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { AccountId } from '../../shared/runtime/ids.ts';
import { parseContent } from '../../shared/templates/pattern.ts';
import type { SlotLimits } from '../../shared/templates/slot.ts';
import { type ApprovedTemplate, readApproved, readVersion } from '../../shared/templates/store.ts';
import { type IndexedTemplate, type TemplateIndex, TemplateIndexBuilder } from './template-index.ts';

export interface ApprovedTemplatesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: SlotLimits;
  /** How long a process believes what it read: an approval or rejection counts from then on at the latest. */
  readonly freshMs: number;
}

/** How long indices are kept although the version is the same: who changed a template may have died before raising it. */
const KEEP_MS = 60_000;
/** Kept at a time over all accounts, some 4 KB each; the longest unused make room. */
const TEMPLATES_MAX = 100_000;
/** Also of senders without templates, which weigh nothing. */
const INDICES_MAX = 20_000;

interface Kept {
  readonly version: number;
  readonly index: TemplateIndex;
  readonly readAtMs: number;
  /** When the version was last found the same. */
  checkedAtMs: number;
}

/**
 * The approved templates of senders, ready for matching. Reading and preparing thousands of them takes tens of milliseconds,
 * so a process keeps them and asks every `freshMs` only for the account's version.
 */
export class ApprovedTemplates {
  readonly #options: ApprovedTemplatesOptions;
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<TemplateIndex>>();
  #templates = 0;

  constructor(options: ApprovedTemplatesOptions) {
    this.#options = options;
  }

  /** What `sender` may send on `route`. */
  ofSender(account: AccountId, sender: string, route: Route): Promise<TemplateIndex> {
    return this.#get(`${account} ${route} ${sender}`, account, sender, route);
  }

  /** Of all senders and routes: tells whether a text would fit elsewhere. Read only when something did not match. */
  ofAccount(account: AccountId): Promise<TemplateIndex> {
    return this.#get(account, account);
  }

  /** Callers that ask for the same thing at the same time wait for one reading. Rejects with the store's error, which is not kept. */
  async #get(key: string, account: AccountId, sender?: string, route?: Route): Promise<TemplateIndex> {
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

  async #refresh(key: string, account: AccountId, sender?: string, route?: Route): Promise<TemplateIndex> {
    const { db, clock, limits } = this.#options;
    const nowMs = clock.monotonicMs();
    const version = await readVersion(db, account);
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.version === version && nowMs - kept.readAtMs < KEEP_MS) {
      kept.checkedAtMs = nowMs;
      this.#keep(key, kept);
      return kept.index;
    }
    const builder = new TemplateIndexBuilder();
    for await (const template of readApproved(db, account, sender, route)) {
      const indexed = toIndexed(template, limits);
      if (indexed !== undefined) builder.add(indexed);
    }
    const index = await finish(builder);
    this.#keep(key, { version, index, readAtMs: nowMs, checkedAtMs: nowMs });
    return index;
  }

  /** Last in the map is used last. */
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

async function finish(builder: TemplateIndexBuilder): Promise<TemplateIndex> {
  const building = builder.build();
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** Undefined for a content that is not well-formed: `templateFaults` lets none in, and none could match a text. */
function toIndexed(template: ApprovedTemplate, limits: SlotLimits): IndexedTemplate | undefined {
  const { dltId, name, senders, entityId, content, slots } = template;
  const parsed = parseContent(content, limits, slots);
  if (parsed.kind === 'malformed') return undefined;
  return { dltId, name, senders, pattern: parsed.pattern, ...(entityId === undefined ? {} : { entityId }) };
}
