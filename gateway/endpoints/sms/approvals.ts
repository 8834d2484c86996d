import type { Db } from 'mongodb';
import { predictRefusals } from '../../../shared/carriers/scrub-rules.ts';
import {
  findSenders,
  hasSenders,
  listApprovedNames,
  type SenderDocument,
  type SenderKey,
  senderKey,
} from '../../../shared/carriers/sender.ts';
import type { Route } from '../../../shared/messages/document/message.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import { listTemplates } from '../../../shared/templates/sms/store.ts';
import { comparedPattern, comparedText, placeBeforeFolding } from '../../../shared/templates/sms/template.ts';
import { asLiveAccount } from '../../access/account.ts';
import { perProcess } from '../../api/endpoint.ts';
import type { Caller } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { fieldRefusal } from '../../http/field-problems.ts';
import type { Refused } from '../../http/idempotency/action.ts';
import { PROBLEMS } from '../../http/problem.ts';
import { ApprovedTemplates } from './matching/approved-templates.ts';
import { captureSlots, type IndexedTemplate, matchTemplate } from './matching/match.ts';
import { explainMismatch, type Mismatch, otherSender } from './matching/mismatch.ts';

/** Both are absent without DLT, unless the request names a template. */
export interface TemplateIds {
  readonly template?: string;
  readonly entityId?: string;
}

type Account = Caller['account'];

export type Approval =
  /** `template`: what the text matches or is rendered from. */
  { readonly kind: 'approved'; readonly ids: TemplateIds; readonly template?: IndexedTemplate } | Refused;

const REMEMBERED_SENDERS = 20_000;
/** Per state, for comparison with a text that matches no approved template. */
const UNAPPROVED_MAX = 50;

/**
 * Decides before any debit whether an account may send a text as a sender: by its registered senders and, with DLT, its
 * approved templates. One instance per process, which trusts what it reads for 4 s. Rejects with the store's error.
 */
export class Approvals {
  readonly #db: Db;
  readonly #templates: ApprovedTemplates;
  readonly #senders: FreshCache<SenderKey, SenderDocument>;

  constructor({ db, clock, config }: Pick<GatewayDeps, 'db' | 'clock' | 'config'>) {
    this.#db = db;
    this.#templates = new ApprovedTemplates({ db, clock, freshMs: config.keyCacheMs });
    this.#senders = new FreshCache({
      freshMs: config.keyCacheMs,
      maxEntries: REMEMBERED_SENDERS,
      clock,
      readMany: (keys) => findSenders(db, keys),
    });
  }

  /** Undefined when there is none, or a field needed to find it is missing. */
  async findTemplate(
    asked: Account,
    named: { readonly template_id?: string; readonly sender?: string; readonly route?: Route },
  ): Promise<IndexedTemplate | undefined> {
    const { template_id: id, sender, route } = named;
    if (id === undefined || sender === undefined || route === undefined) return undefined;
    const account = asLiveAccount(asked);
    const own = await this.#templates.ofSender(account, sender, route);
    return own.templates.find((template) => template.dltId === id);
  }

  /** `content`: the text, or its template; undefined if that was not found. */
  async approve(
    asked: Account,
    { sender, route }: { readonly sender: string; readonly route: Route },
    content: IndexedTemplate | string | undefined,
  ): Promise<Approval> {
    const account = asLiveAccount(asked);
    if (account !== asked && typeof content === 'string' && !(await hasSenders(this.#db, account._id))) {
      // A first test needs nobody's approval.
      return { kind: 'approved', ids: {} };
    }
    if (!(await this.#hasEntityId(account, sender, route))) {
      return { kind: 'refused', problem: ['entity_id_missing', {}] };
    }
    if (!(await this.#maySendAs(account, sender, route))) {
      return this.#senderRefusal(account, sender, route);
    }
    if (content === undefined) return { kind: 'refused', problem: fieldRefusal('template_not_found', 'template_id') };
    if (typeof content !== 'string') return approveTemplate(account, content);
    return this.#approveText(account, sender, route, content);
  }

  /** Checked first, because under DLT nothing can be sent without a PE id. */
  async #hasEntityId(account: Account, sender: string, route: Route): Promise<boolean> {
    if (account.dlt !== 'on' || account.entityId !== undefined) return true;
    const own = await this.#templates.ofSender(account, sender, route);
    return own.templates.some(({ entityId }) => entityId !== undefined);
  }

  /** Senders must be registered and approved, unless the account has `senders: 'any'` and no DLT. */
  async #maySendAs(account: Account, sender: string, route: Route): Promise<boolean> {
    if (account.senders === 'any' && account.dlt !== 'on') return true;
    const registered = await this.#senders.get(senderKey(account._id, sender));
    return registered?.status === 'approved' && registered.routes.includes(route);
  }

  /** Whether the text is that of an unapproved template of any sender. Looks at some of them. */
  async #unapproved(account: Account, text: string): Promise<Mismatch | undefined> {
    for (const status of ['rejected', 'submitted'] as const) {
      for (const found of await listTemplates(this.#db, account._id, status, undefined, UNAPPROVED_MAX)) {
        if (turnOver()) await nextTurn();
        const { dltId, name, reason } = found;
        const pattern = comparedPattern(found, account);
        if (pattern === undefined || captureSlots(pattern, text) === undefined) continue;
        const [said] = predictRefusals({ template: { dltId, status, ...defined({ reason }) } });
        if (said === undefined) return undefined;
        const detail = `The text matches only a template that may not be sent. ${said.cause} ${said.advice}`;
        return { kind: 'no_template', scrubCode: said.code, detail, template: { dltId, name } };
      }
    }
    return undefined;
  }

  /** Hints at an approved sender that differs only in capitals, which operators would not accept either. */
  async #senderRefusal(account: Account, sender: string, route: Route): Promise<Refused> {
    const names = await listApprovedNames(this.#db, account._id);
    const otherCase = names.find((name) => name.toLowerCase() === sender.toLowerCase() && name !== sender);
    const [said] = predictRefusals(defined({ otherCase, sender: otherCase && sender }));
    const plain = `"${sender}" is not registered and approved for ${route} messages of this account. ${PROBLEMS.sender_not_allowed.advice}`;
    const detail = said === undefined ? plain : `${said.cause} ${said.advice}`;
    return { kind: 'refused', problem: fieldRefusal('sender_not_allowed', 'sender', detail) };
  }

  async #approveText(account: Account, sender: string, route: Route, text: string): Promise<Approval> {
    if (account.dlt !== 'on') return { kind: 'approved', ids: {} };
    const own = await this.#templates.ofSender(account, sender, route);
    // Against thousands of templates each step takes milliseconds.
    if (turnOver()) await nextTurn();
    // Only for the comparison: the text is sent as given.
    const compared = comparedText(text, account);
    const template = matchTemplate(own, compared);
    if (template !== undefined) return approveTemplate(account, template);
    const others = await this.#templates.ofAccount(account);
    if (turnOver()) await nextTurn();
    const elsewhere = matchTemplate(others, compared);
    if (elsewhere !== undefined) return templateMismatch(otherSender(elsewhere));
    if (turnOver()) await nextTurn();
    const placeOf = (at: number) => (compared === text ? at : placeBeforeFolding(text, at));
    const mismatch = explainMismatch(own, compared, placeOf);
    return templateMismatch((await this.#unapproved(account, compared)) ?? mismatch);
  }
}

/** With DLT a message needs a PE id: the template's, else the account's. */
function approveTemplate(account: Account, template: IndexedTemplate): Approval {
  const { dltId, entityId = account.entityId } = template;
  if (entityId !== undefined) return { kind: 'approved', ids: { template: dltId, entityId }, template };
  if (account.dlt !== 'on') return { kind: 'approved', ids: { template: dltId }, template };
  const detail = `The template ${dltId} has no PE id, and neither has the account. ${PROBLEMS.entity_id_missing.advice}`;
  return { kind: 'refused', problem: ['entity_id_missing', { detail }] };
}

/** The detail quotes the caller's text, so only the caller may see it. */
function templateMismatch(mismatch: Mismatch): Refused {
  const { kind, scrubCode, detail, template, at, expected, found, slot } = mismatch;
  const answer = {
    detail,
    errors: [{ field: 'message', code: 'template_mismatch', detail }],
    extra: {
      scrub_code: scrubCode,
      mismatch: { kind, template_id: template?.dltId, template_name: template?.name, at, expected, found, slot },
    },
  } as const;
  return { kind: 'refused', problem: ['template_mismatch', answer] };
}

export const approvalsOf = perProcess((gateway) => new Approvals(gateway));
