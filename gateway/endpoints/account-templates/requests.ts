import type { Collection, Db } from 'mongodb';
import { z } from 'zod';
import { isSenderForm, SENDER_FORM } from '../../../shared/carriers/sender.ts';
import { dltIdDoubt } from '../../../shared/money/accounts/account.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { CONTENT_MAX } from '../../../shared/templates/sms/pattern.ts';
import {
  createTemplateRequest,
  findTemplateRequest,
  giveDltId,
  removeTemplateRequest,
  resubmitRequest,
} from '../../../shared/templates/sms/request-store.ts';
import { createTemplate, decideTemplate, findTemplate, TemplateExists } from '../../../shared/templates/sms/store.ts';
import {
  ALL_ANNOUNCED,
  NAME_MAX,
  nameOfText,
  routesOfTemplateCategory,
  SENDERS_MAX,
  TEMPLATE_CATEGORIES,
  type TemplateDocument,
  type TemplateRequestDocument,
  type TemplateText,
  templateKey,
  templateVersion,
} from '../../../shared/templates/sms/template.ts';
import { done, endpoint, type Gateway, invalid, refused } from '../../api/endpoint.ts';
import { flag, success, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { choice, Fault, list, matching, optional, required, string } from '../../http/fields/field.ts';
import { NO_CONTROLS } from '../../http/fields/message-fields.ts';
import { request } from '../../http/fields/request.ts';
import type { Accepted, Refused } from '../../http/idempotency/action.ts';
import { AccountTemplate, contentFaults, type FoundTemplate, findOwnTemplate, templateRecord } from './templates.ts';

/** DLT templates that an account asks for, changes and withdraws. Nothing here makes a text sendable. */

const SENDER_FAULT = new Fault(
  'invalid_sender',
  'It must be 1 to 11 characters with at least one letter, or 3 to 15 digits.',
);

const name = string(
  {
    description: 'A name for people. Without one: the beginning of the text.',
    minLength: 1,
    maxLength: NAME_MAX,
    pattern: NO_CONTROLS,
  },
  (text) => {
    if (text === '' || text.length > NAME_MAX)
      return new Fault('too_long', `It must have 1 to ${NAME_MAX} characters.`);
    return /\p{Cc}|\p{Surrogate}/u.test(text)
      ? new Fault('invalid_text', 'It must not contain control characters.')
      : text;
  },
);

const senders = list(
  string({ pattern: SENDER_FORM.source }, (text) => (isSenderForm(text) ? text : SENDER_FAULT)),
  { description: 'The headers (senders) that may send it.', minItems: 1, maxItems: SENDERS_MAX },
);

const category = choice(TEMPLATE_CATEGORIES, 'Its category on the DLT platform. It decides the route of its messages.');

const content = string(
  {
    description: 'Its text, exactly as on the DLT platform, slots as {#var#}.',
    minLength: 1,
    maxLength: CONTENT_MAX,
  },
  (text) => text,
);

const dltId = (description: string) =>
  matching(description, /^[0-9]{10,20}$/, '10 to 20 digits, as the DLT platform shows it');

function wellFormed({ content: text }: { readonly content?: string }, _has: unknown, problems: FieldProblems): void {
  for (const { detail } of text === undefined ? [] : contentFaults(text))
    problems.add('content', 'invalid_text', detail);
}

const TemplateIdText = text(undefined, { example: '1107160000000012345' });
const IN_PATH = { template_id: TemplateIdText.describe('The `template_id` of the list.') };
const AccountTemplateResult = success('AccountTemplateResult', {
  ...AccountTemplate.shape,
  warnings: z.array(text()).meta({ description: 'What should be looked at again.' }).optional(),
});

export const requestTemplate = endpoint({
  id: 'requestTemplate',
  call: 'templates.request',
  method: 'post',
  path: '/v2/account/templates',
  tag: 'Account',
  summary: 'Ask for a DLT template',
  description:
    "Extension. With its id of the DLT platform it waits for an operator's approval. Without it, give the id later: `PATCH`. Nothing of it is sent before it is approved. Webhooks are told the decision: `template.approved` or `template.rejected`. An account may have 200 templates that nobody has approved, and 200 requests without an id; one more is `quota_reached`.",
  scopes: ['manage'],
  body: request(
    {
      name: optional(name),
      senders: required(senders),
      category: required(category),
      content: required(content),
      dlt_id: optional(dltId('Its id on the DLT platform. Without it: give it later, when you have it.')),
      entity_id: optional(dltId("PE id of the business that registered it, when it is not the account's own.")),
    },
    [],
    [wellFormed],
  ),
  answer: AccountTemplateResult,
  problems: ['template_exists', 'quota_reached'],
  examples: {
    body: {
      example: {
        name: 'Login code',
        senders: ['HARKRA'],
        category: 'service_implicit',
        content: 'Your code is {#var#}. Do not share it.',
        dlt_id: '1107160000000012345',
      },
    },
  },
  newId: ({ clock }) => newId('tpr', clock.now().getTime()),
  action: (deps) => ({
    async act({ caller, body }, { id }) {
      const { db, clock } = deps;
      const { name, senders, category, content, dlt_id: dltId, entity_id: entityId } = body;
      const account = caller.account._id;
      const given = {
        name: name ?? nameOfText(content),
        ...{ senders: [...new Set(senders)], routes: routesOfTemplateCategory(category), category, content },
        ...(entityId === undefined ? {} : { entityId }),
      };
      const known = dltId === undefined ? undefined : await findTemplate(db, account, dltId);
      if (known !== undefined)
        return known.status === 'submitted' && isSame(known, given) ? asked(known) : exists(known);
      const make = (): Promise<TemplateDocument | TemplateRequestDocument> =>
        dltId === undefined
          ? createTemplateRequest(db, clock, { _id: id, account, ...given })
          : createTemplate(
              db,
              clock,
              account,
              { dltId, ...given, status: 'submitted', requested: true, request: id },
              'account',
            );
      try {
        const made = await changeAudited(deps, caller, {
          action: 'template.request',
          subject: { kind: 'template', id: dltId ?? id },
          make,
          madeOf: templateRecord,
          isRefusal: isTaken,
        });
        return asked(made);
      } catch (error) {
        const other = isTaken(error) && dltId ? await findTemplate(db, account, dltId) : undefined;
        if (other === undefined) throw error;
        return other.request === id ? asked(other) : exists(other);
      }
    },
    /** A request that has a DLT id already is found again. */
    async recover(account, id) {
      const found = await findTemplateRequest(deps.db, deps.clock, account, id);
      return found && asked(found);
    },
  }),
});

function asked(made: TemplateDocument | TemplateRequestDocument): Accepted {
  return { kind: 'accepted', body: done(changedRecord(made)) };
}

function changedRecord(made: TemplateDocument | TemplateRequestDocument) {
  const record = templateRecord(made);
  const doubts = [
    dltIdDoubt('The template id', record.dlt_id ?? undefined),
    dltIdDoubt('The PE id', record.entity_id ?? undefined),
  ].filter((doubt) => doubt !== undefined);
  return { ...record, ...(doubts.length > 0 && { warnings: doubts }) };
}

function isSame(known: TemplateDocument, given: TemplateText): boolean {
  return templateVersion(known) === templateVersion(given);
}

function exists({ dltId, status }: TemplateDocument): Refused {
  return refused('template_exists', {
    detail: `The account has the template ${dltId} already; it is ${status}. A rejected one can be changed; for another text give another id.`,
  });
}

export const changeTemplate = endpoint({
  id: 'changeTemplate',
  call: 'templates.change',
  method: 'patch',
  path: '/v2/account/templates/{template_id}',
  tag: 'Account',
  summary: 'Give a template its id, or edit a rejected one',
  description:
    'Extension. `dlt_id` gives a request the id that the DLT platform gave it. The other fields change a rejected one, which waits for an operator again. A text that was approved once never changes.',
  scopes: ['manage'],
  params: IN_PATH,
  body: request(
    {
      name: optional(name),
      senders: optional(senders),
      category: optional(category),
      content: optional(content),
      dlt_id: optional(dltId('The id that the DLT platform gave it.')),
    },
    [],
    [wellFormed],
  ),
  answer: AccountTemplateResult,
  problems: ['template_not_found', 'template_exists', 'template_not_editable', 'quota_reached'],
  examples: { body: { example: { dlt_id: '1107160000000012345' } } },
  async handle(deps, { caller, params, body, read }) {
    const { db, clock } = deps;
    const account = caller.account._id;
    const { dlt_id: dltId, category, ...rest } = body;
    const own = await findOwnTemplate(db, clock, account, params.template_id);
    if (own === undefined) return refused('template_not_found', NO_TEMPLATE);
    const text: Text = {
      ...rest,
      ...(category === undefined ? {} : { category, routes: routesOfTemplateCategory(category) }),
    };
    const hasText = Object.keys(text).length > 0;
    noteConflicts(own, hasText, dltId, read.problems);
    if (read.problems.count > 0) return invalid(read.problems);
    const changed = await changeAudited(deps, caller, {
      action: 'template.change',
      subject: { kind: 'template', id: own.found._id.startsWith('tpr_') ? own.found._id : String(own.found.dltId) },
      read: async () => templateRecord(own.found),
      make: async () => {
        if (hasText && !(await resubmit(deps, account, own, text))) return undefined;
        if (dltId === undefined || own.kind === 'template')
          return findOwnTemplate(db, clock, account, params.template_id);
        const found = await giveDltId(db, clock, account, own.found._id, dltId, 'account');
        return found && ({ kind: 'template', found } as const);
      },
      madeOf: (made) => templateRecord((made ?? own).found),
      isRefusal: isTaken,
    }).catch((error: unknown) => {
      if (!isTaken(error)) throw error;
      return refused('template_exists', { detail: `Another template of the account has the id ${dltId}.` });
    });
    if (changed?.kind === 'refused') return changed;
    return changed === undefined ? refused('template_not_editable') : done(changedRecord(changed.found));
  },
});

const NO_TEMPLATE = {
  detail: 'Check the template_id: the account has no such template. `GET /v2/account/templates` lists them.',
};

function noteConflicts(own: FoundTemplate, hasText: boolean, dltId: string | undefined, problems: FieldProblems): void {
  if (!hasText && dltId === undefined) {
    problems.add('dlt_id', 'missing_field', 'Give `dlt_id`, or what is to change.');
  }
  if (own.kind === 'template' && dltId !== undefined && dltId !== own.found.dltId) {
    problems.add('dlt_id', 'conflict', `It has the id ${own.found.dltId}. Ask for a template with the other id.`);
  }
}

function isTaken(error: unknown): boolean {
  return error instanceof TemplateExists;
}

const WITHDRAWN = 'Withdrawn by the account.';
const BEING_TOLD = 'It was just approved or rejected, and webhooks are being told of it. Try again in a minute.';

/**
 * Withdraws a request. A template that an operator made or approved stays listed as rejected: its id must get no other
 * text while messages wait that have this one.
 */
export const removeTemplate = endpoint({
  id: 'removeTemplate',
  call: 'templates.remove',
  method: 'delete',
  path: '/v2/account/templates/{template_id}',
  tag: 'Account',
  summary: 'Take a DLT template back',
  description:
    'Extension. Removes a request. A template that was approved, or that an operator made, is withdrawn: it stays listed as rejected, and no text of it is sent. What was decided about a moment ago answers 409 until webhooks are told of it.',
  scopes: ['manage'],
  params: IN_PATH,
  answer: success('RemovedTemplate', {
    template_id: TemplateIdText,
    removed: flag('False: it was approved before. It is withdrawn, and stays listed as rejected.', true),
    message: text(undefined, { example: 'The template is removed.' }),
  }),
  problems: ['template_not_found', 'template_not_editable'],
  async handle(deps, { caller, params }) {
    const { db, clock } = deps;
    const account = caller.account._id;
    const own = await findOwnTemplate(db, clock, account, params.template_id);
    if (own === undefined) return refused('template_not_found', NO_TEMPLATE);
    const id = own.kind === 'request' ? own.found._id : own.found.dltId;
    const removed = await changeAudited(deps, caller, {
      action: 'template.remove',
      subject: { kind: 'template', id },
      read: async () => templateRecord(own.found),
      make: async () => {
        if (own.kind === 'request') return (await removeTemplateRequest(db, account, own.found._id)) || undefined;
        const { dltId, requested, approvedAt } = own.found;
        if (await removeUnapproved(db, account, dltId)) return true;
        if (requested && approvedAt === undefined) return undefined;
        await decideTemplate(db, clock, account, dltId, 'rejected', WITHDRAWN);
        return false;
      },
      madeOf: (gone) => {
        if (gone === true) return { removed: true };
        const record = templateRecord(own.found);
        return gone === undefined ? record : { ...record, state: 'rejected' };
      },
    });
    if (removed === undefined) return refused('template_not_editable', { detail: BEING_TOLD });
    const message = removed
      ? 'The template is removed.'
      : 'The template is withdrawn: no text of it is sent any more. It stays listed as rejected.';
    return done({ template_id: id, removed, message });
  },
});

/**
 * An account may change or remove only what it asked for itself and nobody ever approved. Messages of other templates
 * may be waiting, and would leave with the id of a template that has another text.
 */
const OWN = { requested: true, approvedAt: { $exists: false } } as const;

type Text = Partial<Pick<TemplateDocument, 'name' | 'senders' | 'routes' | 'category' | 'content'>>;

/** Gives an own rejected template another text; an operator must approve it again. False: there is none. */
async function resubmit(
  { db, clock }: Pick<Gateway, 'db' | 'clock'>,
  account: AccountId,
  own: FoundTemplate,
  text: Text,
): Promise<boolean> {
  if (own.kind === 'request') return resubmitRequest(db, clock, account, own.found._id, text);
  const { matchedCount } = await templates(db).updateOne(
    { _id: templateKey(account, own.found.dltId), status: 'rejected', ...OWN },
    { $set: { ...text, status: 'submitted', createdAt: clock.now() }, $unset: { reason: '', decidedAt: '' } },
  );
  return matchedCount === 1;
}

/** Removes an own template that was never approved. False: there is none, or webhooks must still learn of it. */
export async function removeUnapproved(db: Db, account: AccountId, dltId: string): Promise<boolean> {
  const { deletedCount } = await templates(db).deleteOne({
    _id: templateKey(account, dltId),
    ...OWN,
    ...ALL_ANNOUNCED,
  });
  return deletedCount === 1;
}

function templates(db: Db): Collection<TemplateDocument> {
  return db.collection('templates');
}
