import { isTemplateRequestId, type TemplateRequestId } from '../../shared/runtime/ids.ts';
import { listWaitingTemplates } from '../../shared/templates/own-store.ts';
import { giveDltId, listWaitingRequests, rejectTemplateRequest } from '../../shared/templates/request-store.ts';
import { TemplateExists } from '../../shared/templates/store.ts';
import { templateVersion } from '../../shared/templates/template.ts';
import { existing } from './account.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { accountId, required, words } from './parameters.ts';
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
    about: 'Shows the DLT templates of all accounts that wait for you, oldest first.',
    args: {},
    options: {},
    notes:
      'Approve a template with `template approve --version`. A request without an id of the DLT platform needs one: `template-request name`. `template-request refuse` refuses it.',
    async run(_args, { db, clock }) {
      const store = await db();
      const [requests, templates] = await Promise.all([
        listWaitingRequests(store, clock, SHOWN_MAX),
        listWaitingTemplates(store, new Date(0), SHOWN_MAX),
      ]);
      const all = [...requests, ...templates].map((one) => ({
        account: one.account,
        template: isTemplateRequestId(one._id) ? one._id : (one.dltId ?? ''),
        senders: one.senders.join(','),
        requested_at: one.createdAt.toISOString(),
        entity_id: one.entityId ?? null,
        version: templateVersion(one),
        content: one.content,
      }));
      const rows = all.map((one) => Object.values(one).map((cell) => (cell ?? '-').replaceAll(/\p{Cc}+/gu, ' ')));
      return {
        text: table(['ACCOUNT', 'TEMPLATE', 'SENDERS', 'SINCE', 'PE ID', 'VERSION', 'TEXT'], rows, 'Nothing waits.'),
        json: all,
      };
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
        const named = await giveDltId(store, clock, account, requestId(id), template);
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

function requestId(text: string): TemplateRequestId {
  if (!isTemplateRequestId(text)) throw new Failure(`${text} is no request: \`template-request list\` shows them.`);
  return text;
}

function noRequest(account: string, id: string): Failure {
  return new Failure(`${account} has no request ${id} that waits: \`template-request list\` shows them.`);
}
