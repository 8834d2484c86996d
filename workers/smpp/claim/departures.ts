import type { Db } from 'mongodb';
import { blocks, isExempt, readRecipientScopes } from '../../../shared/carriers/opt-outs/store.ts';
import { findSenders, type SenderDocument, type SenderKey, senderKey } from '../../../shared/carriers/sender.ts';
import { findStopped } from '../../../shared/messages/batch.ts';
import { CANCELLED, CANCELLED_REASON } from '../../../shared/messages/document/change.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { readSendingRules } from '../../../shared/money/accounts/store.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, idTime, type MessageId } from '../../../shared/platform/runtime/ids.ts';
import { readApprovals, type TemplateApproval } from '../../../shared/templates/sms/store.ts';
import { type TemplateKey, templateKey } from '../../../shared/templates/sms/template.ts';

/** Becomes the `errorCode` and `errorReason` of an accepted message that may not leave any more. */
export interface Refusal {
  readonly code: string;
  readonly reason: string;
}

type SendingRules = Pick<AccountDocument, 'dlt' | 'senders' | 'optOuts' | 'optOutExempt'>;

/** A message that leaves within this time after its payment is not checked again: the gateway has just checked it. */
const WAITED_MS = 5_000;
const FRESH_MS = 2_000;
/** How many entries of each kind are remembered, some 10 MB in all. */
const REMEMBERED = 20_000;

/**
 * Checks messages that waited (schedule, retry, backlog): the gateway's checks may not hold any more. One per process.
 * Reads each account, sender and template once in two seconds. Decision 7 says which are refused, and which wait.
 */
export class Departures {
  readonly #options: { readonly db: Db; readonly clock: Clock };
  readonly #accounts: FreshCache<AccountId, SendingRules>;
  readonly #senders: FreshCache<SenderKey, SenderDocument>;
  readonly #templates: FreshCache<TemplateKey, TemplateApproval>;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#options = { db, clock };
    const limits = { clock, freshMs: FRESH_MS, maxEntries: REMEMBERED };
    this.#accounts = new FreshCache({ ...limits, readMany: (ids) => readSendingRules(db, ids) });
    this.#senders = new FreshCache({ ...limits, readMany: (keys) => findSenders(db, keys) });
    this.#templates = new FreshCache({ ...limits, readMany: (keys) => readApprovals(db, keys) });
  }

  /** Which of these claimed messages may not leave. Rejects with the store's error. */
  async refusals(claimed: readonly MessageDocument[]): Promise<ReadonlyMap<MessageId, Refusal>> {
    const [stopped, disallowed] = await Promise.all([this.#stopped(claimed), this.#disallowed(claimed)]);
    return new Map([...disallowed, ...stopped]);
  }

  /** Messages of stopped batches that came back from a carrier. Reads only for messages claimed again. */
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
    // The debit's id contains the time of the payment, also for schedules and batches.
    const before = this.#options.clock.now().getTime() - WAITED_MS;
    // The SMS in place of a chat-app message was checked only when that was accepted: always check it.
    const waited = claimed.filter(
      ({ group, fallbackOf }) => fallbackOf !== undefined || idTime(group).getTime() < before,
    );
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

  /** Messages whose recipient has opted out since. One query for each account in which anybody ever opted out. */
  async #optedOut(
    waited: readonly MessageDocument[],
    accounts: ReadonlyMap<AccountId, SendingRules>,
  ): Promise<ReadonlySet<MessageId>> {
    const asked = new Map<AccountId, MessageDocument[]>();
    for (const message of waited) {
      const rules = accounts.get(message.account);
      if (rules?.optOuts !== true || isExempt(message, rules.optOutExempt)) continue;
      if (message.inReplyTo !== undefined) continue;
      asked.set(message.account, [...(asked.get(message.account) ?? []), message]);
    }
    const refused = await Promise.all(
      [...asked].map(async ([account, messages]) => {
        const scopes = await readRecipientScopes(
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

/** Value of `v` in a message that was claimed for the first time. */
const FIRST_CLAIM = 1;

interface Check {
  readonly message: MessageDocument;
  readonly sender?: SenderKey;
  readonly template?: TemplateKey;
}

/**
 * DLT switched on later counts only for messages accepted since; if it was switched off, its rules are not checked. An
 * answer to a customer needs no registered sender: its sender is the number the customer wrote to.
 */
function checkOf(message: MessageDocument, rules: SendingRules | undefined): Check {
  const { account, sender, template, inReplyTo } = message;
  const underDlt = rules?.dlt === 'on' && template !== undefined;
  return {
    message,
    ...(underDlt || (rules?.senders === 'registered' && inReplyTo === undefined)
      ? { sender: senderKey(account, sender) }
      : {}),
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
  template: TemplateApproval | undefined,
): Refusal | undefined {
  const approved = template?.status === 'approved';
  if (approved && template.senders.includes(sender) && template.routes.includes(route)) return undefined;
  return {
    code: 'template_not_approved',
    reason: 'While the message waited, its template ceased to be approved for its sender and route.',
  };
}
