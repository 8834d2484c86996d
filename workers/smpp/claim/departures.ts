import type { Db } from 'mongodb';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { readSendingRules } from '../../../shared/accounts/store.ts';
import { findStopped } from '../../../shared/batches/store.ts';
import { CANCELLED, CANCELLED_REASON } from '../../../shared/messages/cancelled.ts';
import type { MessageDocument } from '../../../shared/messages/message.ts';
import { blocks, isExempt } from '../../../shared/opt-outs/opt-out.ts';
import { readScopes } from '../../../shared/opt-outs/store.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { FreshCache } from '../../../shared/runtime/fresh-cache.ts';
import { type AccountId, idTime, type MessageId } from '../../../shared/runtime/ids.ts';
import type { SenderDocument } from '../../../shared/senders/sender.ts';
import { findSenders, type SenderKey, senderKey } from '../../../shared/senders/store.ts';
import { readStandings, type TemplateStanding } from '../../../shared/templates/store.ts';
import { type TemplateKey, templateKey } from '../../../shared/templates/template.ts';

/** Why a message that was accepted may not leave any more: `errorCode` and `errorReason` of its end. */
export interface Refusal {
  readonly code: string;
  readonly reason: string;
}

type SendingRules = Pick<AccountDocument, 'dlt' | 'senders' | 'optOuts' | 'optOutExempt'>;

/** A message that leaves sooner after it was paid for was checked a moment ago, by what the gateway knew then. */
const WAITED_MS = 5_000;
/** What accounts, senders and templates are is believed for so long. */
const FRESH_MS = 2_000;
/** Of each kind: some 10 MB at most. */
const REMEMBERED = 20_000;

/**
 * The last look at messages that waited (for their time, for a retry, in a backlog): what the gateway checked at accept is
 * checked again when they leave. One per process. What leaves soon costs nothing; of what waited, each account, sender and
 * template is read once in two seconds. Decision 0011 tells what is refused, and what waits instead.
 */
export class Departures {
  readonly #options: { readonly db: Db; readonly clock: Clock };
  readonly #accounts: FreshCache<AccountId, SendingRules>;
  readonly #senders: FreshCache<SenderKey, SenderDocument>;
  readonly #templates: FreshCache<TemplateKey, TemplateStanding>;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#options = { db, clock };
    const limits = { clock, freshMs: FRESH_MS, maxEntries: REMEMBERED };
    this.#accounts = new FreshCache({ ...limits, readMany: (ids) => readSendingRules(db, ids) });
    this.#senders = new FreshCache({ ...limits, readMany: (keys) => findSenders(db, keys) });
    this.#templates = new FreshCache({ ...limits, readMany: (keys) => readStandings(db, keys) });
  }

  /** Which of these messages, just claimed, may not leave. Rejects with the store's error. */
  async refusals(claimed: readonly MessageDocument[]): Promise<ReadonlyMap<MessageId, Refusal>> {
    const [stopped, disallowed] = await Promise.all([this.#stopped(claimed), this.#disallowed(claimed)]);
    return new Map([...disallowed, ...stopped]);
  }

  /**
   * Messages of stopped batches that were with a carrier and came back: the stop did not find them waiting. Asked again each
   * time, so that none leaves that comes back after the stop; only messages that are claimed again cost this question.
   */
  async #stopped(claimed: readonly MessageDocument[]): Promise<[MessageId, Refusal][]> {
    const again = claimed.filter(({ batch, v }) => batch !== undefined && v > FIRST_CLAIM);
    const batches = new Set(again.flatMap(({ batch }) => batch ?? []));
    if (batches.size === 0) return [];
    const stopped = await findStopped(this.#options.db, [...batches]);
    return again
      .filter(({ batch }) => batch !== undefined && stopped.has(batch))
      .map(({ _id }) => [_id, { code: CANCELLED, reason: CANCELLED_REASON }]);
  }

  async #disallowed(claimed: readonly MessageDocument[]): Promise<[MessageId, Refusal][]> {
    // The debit's id tells when it was paid for, also of what was scheduled or split from a batch.
    const before = this.#options.clock.now().getTime() - WAITED_MS;
    const waited = claimed.filter(({ group }) => idTime(group).getTime() < before);
    if (waited.length === 0) return [];
    const accounts = await this.#accounts.getMany(waited.map(({ account }) => account));
    const checks = waited.map((message) => checkOf(message, accounts.get(message.account)));
    const [senders, templates, optedOut] = await Promise.all([
      this.#senders.getMany(checks.flatMap(({ sender }) => sender ?? [])),
      this.#templates.getMany(checks.flatMap(({ template }) => template ?? [])),
      this.#optedOut(waited, accounts),
    ]);
    return checks.flatMap(({ message, sender, template }): [MessageId, Refusal][] => {
      const refusal =
        (optedOut.has(message._id) ? OPTED_OUT : undefined) ??
        (template !== undefined && message.entityId === undefined ? ENTITY_ID_MISSING : undefined) ??
        (sender === undefined ? undefined : senderRefusal(message, senders.get(sender))) ??
        (template === undefined ? undefined : templateRefusal(message, templates.get(template)));
      return refusal === undefined ? [] : [[message._id, refusal]];
    });
  }

  /** Those whose recipient opted out since. One query for each account in which anybody ever did. */
  async #optedOut(
    waited: readonly MessageDocument[],
    accounts: ReadonlyMap<AccountId, SendingRules>,
  ): Promise<ReadonlySet<MessageId>> {
    const asked = new Map<AccountId, MessageDocument[]>();
    for (const message of waited) {
      const rules = accounts.get(message.account);
      if (rules?.optOuts !== true || isExempt(message, rules.optOutExempt)) continue;
      asked.set(message.account, [...(asked.get(message.account) ?? []), message]);
    }
    const refused = await Promise.all(
      [...asked].map(async ([account, messages]) => {
        const scopes = await readScopes(
          this.#options.db,
          account,
          messages.map(({ to }) => to),
        );
        return messages.filter(({ to, sender }) => blocks(scopes.get(to) ?? [], sender));
      }),
    );
    return new Set(refused.flat().map(({ _id }) => _id));
  }
}

/** `v` of a message that was never claimed before. */
const FIRST_CLAIM = 1;

interface Check {
  readonly message: MessageDocument;
  readonly sender?: SenderKey;
  readonly template?: TemplateKey;
}

/**
 * What must still be so. Switching an account's DLT on or off counts for what is accepted from then on, but what it does not
 * ask for any more is not asked for here either.
 */
function checkOf(message: MessageDocument, rules: SendingRules | undefined): Check {
  const { account, sender, template } = message;
  const underDlt = rules?.dlt === 'on' && template !== undefined;
  return {
    message,
    ...(underDlt || rules?.senders === 'registered' ? { sender: senderKey(account, sender) } : {}),
    ...(underDlt ? { template: templateKey(account, template) } : {}),
  };
}

const OPTED_OUT: Refusal = {
  code: 'recipient_opted_out',
  reason: 'While the message waited, its recipient opted out.',
};

const ENTITY_ID_MISSING: Refusal = {
  code: 'entity_id_missing',
  reason: 'The account had no PE id when the message was accepted: operators refuse what has none.',
};

function senderRefusal({ route }: MessageDocument, registered: SenderDocument | undefined): Refusal | undefined {
  if (registered?.status === 'approved' && registered.routes.includes(route)) return undefined;
  return {
    code: 'sender_not_registered',
    reason: `While the message waited, its sender ceased to be approved for ${route} messages.`,
  };
}

function templateRefusal(
  { sender, route }: MessageDocument,
  template: TemplateStanding | undefined,
): Refusal | undefined {
  const approved = template?.status === 'approved';
  if (approved && template.senders.includes(sender) && template.routes.includes(route)) return undefined;
  return {
    code: 'template_not_approved',
    reason: 'While the message waited, its template ceased to be approved for its sender and route.',
  };
}
