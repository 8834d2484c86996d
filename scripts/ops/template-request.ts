import type { Db } from 'mongodb';
import type { CtaDocument } from '../../shared/carriers/cta.ts';
import type { SenderDocument } from '../../shared/carriers/sender.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, isTemplateRequestId, type TemplateRequestId } from '../../shared/platform/runtime/ids.ts';
import { readTurns, readWaitingOf, type Waiting } from '../../shared/templates/sms/approval-queue.ts';
import { giveDltId, rejectTemplateRequest } from '../../shared/templates/sms/request-store.ts';
import { TemplateExists } from '../../shared/templates/sms/store.ts';
import { templateVersion } from '../../shared/templates/sms/template.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { existing } from './owners.ts';
import { accountId, optional, required, words } from './parameters.ts';
import { table } from './show.ts';

const SHOWN_MAX = 500;
const account = required(accountId, 'the account');
const request = required(words('REQUEST', 'tpr_ and 26 characters', /^tpr_[0-9a-hjkmnp-tv-z]{26}$/), 'its request');
const dltId = words('ID', '10 to 20 digits', /^[0-9]{10,20}$/);
const text = words('TEXT', 'text', /^[\s\S]+$/);

/** Commands about the templates that accounts asked for themselves. */
export const TEMPLATE_REQUEST_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'template-request',
    verb: 'list',
    about: 'Shows the DLT templates that wait for you: of each account the oldest few, or all of one account.',
    args: {},
    options: {
      account: optional(accountId, 'all of this account, oldest first'),
      after: optional(accountId, 'what comes behind this account'),
    },
    notes:
      'It shows 500 at most, and says how to go on. Approve a template with `template approve --version`. A request without an id of the DLT platform needs one: `template-request name`. `template-request refuse` refuses it.',
    async run({ account: of, after }, { db, clock }) {
      const { found, more } = await readQueue(await db(), clock, of, after);
      const all = found.map(({ one, waiting }) => ({
        account: one.account,
        waiting,
        template: isTemplateRequestId(one._id) ? one._id : (one.dltId ?? ''),
        senders: one.senders.join(','),
        requested_at: one.createdAt.toISOString(),
        entity_id: one.entityId ?? null,
        version: templateVersion(one),
        content: one.content,
      }));
      const rows = all.map((one) => Object.values(one).map((cell) => String(cell ?? '-').replaceAll(/\p{Cc}+/gu, ' ')));
      const heads = ['ACCOUNT', 'WAITING', 'TEMPLATE', 'SENDERS', 'SINCE', 'PE ID', 'VERSION', 'TEXT'];
      return { text: [table(heads, rows, 'Nothing waits.'), ...more].join('\n'), json: all };
    },
  }),
  defineCommand({
    noun: 'template-request',
    verb: 'name',
    about: 'Gives a request the id that the DLT platform gave it. It then waits for `template approve`.',
    args: { account, request, template: required(dltId, 'its id on the DLT platform') },
    options: {},
    async run({ account, request: id, template }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      try {
        const named = await giveDltId(store, clock, account, requestId(id), template, 'operator');
        if (named === undefined) throw noRequest(account, id);
        return { text: `${id} is ${template} now, submitted.`, json: { account, template, status: named.status } };
      } catch (error) {
        if (error instanceof TemplateExists) throw new Failure(`${template} is registered to ${account} already.`);
        throw error;
      }
    },
  }),
  defineCommand({
    noun: 'template-request',
    verb: 'refuse',
    about: 'Refuses a request that has no id of the DLT platform yet. Webhooks are told.',
    args: { account, request },
    options: { reason: required(text, 'for the account: what is wrong, and what to do') },
    async run({ account, request: id, reason }, { db, clock }) {
      const store = await db();
      await existing(store, account);
      if (!(await rejectTemplateRequest(store, clock, account, requestId(id), reason))) throw noRequest(account, id);
      return { text: `${id} is rejected.`, json: { account, request: id, status: 'rejected' } };
    },
  }),
];

type WaitingTemplate = Exclude<Waiting, SenderDocument | CtaDocument>;

interface Listed {
  readonly found: readonly { readonly one: WaitingTemplate; readonly waiting: number }[];
  /** What is not shown, and how to see it. */
  readonly more: readonly string[];
}

async function readQueue(
  db: Db,
  clock: Clock,
  of: AccountId | undefined,
  after: AccountId | undefined,
): Promise<Listed> {
  if (of !== undefined) {
    const { found, waiting } = await readWaitingOf(db, clock, 'templates', of, undefined, SHOWN_MAX);
    const more = waiting > found.length ? ['More wait than are shown here. Decide these first.'] : [];
    return { found: found.filter(isTemplate).map((one) => ({ one, waiting })), more };
  }
  const { turns, next } = await readTurns(db, clock, 'templates', after, SHOWN_MAX);
  const hidden = turns.find(({ oldest, waiting }) => waiting > oldest.length);
  return {
    found: turns.flatMap(({ oldest, waiting }) => oldest.filter(isTemplate).map((one) => ({ one, waiting }))),
    more: [
      ...(hidden === undefined ? [] : [`All of one account: template-request list --account ${hidden.account}`]),
      ...(next === undefined ? [] : [`More accounts: template-request list --after ${next}`]),
    ],
  };
}

/** The queue of templates has no senders, which the type does not know. */
function isTemplate(one: Waiting): one is WaitingTemplate {
  return 'content' in one;
}

function requestId(text: string): TemplateRequestId {
  if (!isTemplateRequestId(text)) throw new Failure(`${text} is no request: \`template-request list\` shows them.`);
  return text;
}

function noRequest(account: string, id: string): Failure {
  return new Failure(`${account} has no request ${id} that waits: \`template-request list\` shows them.`);
}
