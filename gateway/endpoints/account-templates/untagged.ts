import type { Db } from 'mongodb';
import { z } from 'zod';
import { homeOfCtas } from '../../../shared/carriers/cta.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { findAccount } from '../../../shared/money/accounts/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { idTime } from '../../../shared/platform/runtime/ids.ts';
import { inSlices, nextTurn, turnOver } from '../../../shared/platform/runtime/turns.ts';
import { listTemplates } from '../../../shared/templates/sms/store.ts';
import { comparedPattern, type TemplateDocument } from '../../../shared/templates/sms/template.ts';
import { pageAccount, pageMode } from '../../access/page-query.ts';
import { CSV_COST, CSV_TYPE, csvAnswer, csvHead, csvText } from '../../api/csv.ts';
import { CostlyRead, endpoint, type Gateway, refused } from '../../api/endpoint.ts';
import { flag, named, text, whole } from '../../api/shapes.ts';
import type { CallerAccount } from '../../http/context.ts';
import { choice, otherwise, withDefault } from '../../http/fields/field.ts';
import { wholeOf } from '../../http/fields/query.ts';
import { saidOf, type TextRules, textRulesFor } from '../messages/texts.ts';
import { fixedText, openSlots, type Proposal, propose, sampleTexts, TAGS } from './propose-tags.ts';

/**
 * DLT templates that still have `{#var#}`, which operators phase out. A tagged successor is found by its fixed text, so
 * nothing is stored or switched over: of two matching templates the tagged one is used (sms/matching/match.ts).
 */

const STATES = ['open', 'in_review', 'replaced'] as const;
const CHUNK = 500;
const LISTED_MAX = 500;
const DAYS = 90;
const DAY_MS = 86_400_000;

interface Untagged {
  readonly template: TemplateDocument;
  readonly slots: number;
  readonly state: (typeof STATES)[number];
  /** The tagged template: an approved one before those in review. */
  readonly successor: TemplateDocument | undefined;
  /** Senders that no approved successor has. */
  readonly missing: readonly string[];
}

type Owner = Pick<AccountDocument, '_id' | 'lineBreaks'>;

async function findUntagged(db: Db, account: Owner): Promise<readonly Untagged[]> {
  const open: { readonly template: TemplateDocument; readonly slots: number }[] = [];
  const byText = new Map<string, { readonly template: TemplateDocument; readonly slots: number }[]>();
  for (const status of ['approved', 'submitted'] as const) {
    for (let after: string | undefined, length = CHUNK; length === CHUNK; ) {
      const page = await listTemplates(db, account._id, status, after, CHUNK);
      for (const template of page) {
        if (turnOver()) await nextTurn();
        const pattern = comparedPattern(template, account);
        if (pattern === undefined || pattern.slots.length === 0) continue;
        const one = { template, slots: openSlots(pattern).length };
        if (status === 'approved' && one.slots > 0) open.push(one);
        const key = fixedText(template.content, account);
        const alike = byText.get(key);
        if (alike === undefined) byText.set(key, [one]);
        else alike.push(one);
      }
      ({ length } = page);
      after = page.at(-1)?.dltId;
    }
  }
  const untagged: Untagged[] = [];
  await inSlices(open, ({ template, slots }) => {
    const all = (byText.get(fixedText(template.content, account)) ?? []).filter(
      (other) =>
        other.slots < slots &&
        template.routes.every((route) => other.template.routes.includes(route)) &&
        template.senders.some((sender) => other.template.senders.includes(sender)),
    );
    const approved = all.filter((other) => other.template.status === 'approved');
    const missing = template.senders.filter(
      (sender) => !approved.some((other) => other.template.senders.includes(sender)),
    );
    const isReplaced = approved.length > 0 && missing.length === 0;
    untagged.push({
      ...{ template, slots, missing },
      state: isReplaced ? 'replaced' : all.length > approved.length ? 'in_review' : 'open',
      successor: (approved[0] ?? all[0])?.template,
    });
  });
  return untagged;
}

const TEMPLATE_ID = { pattern: '^[0-9]{10,20}$', example: '1107160000000012345' } as const;
const CONTENT = 'Your code is {#var#}. Do not share it.';

const UNTAGGED = {
  template_id: text('Its id on the DLT platform.', TEMPLATE_ID),
  name: text('A name for people.', { example: 'Login code' }),
  senders: z.array(text()).meta({ example: ['HARKRA'] }),
  content: text('Its text.', { example: CONTENT }),
  untagged_slots: whole('How many of its slots are {#var#}.', { example: 1 }),
  state: z.enum(STATES).meta({
    description:
      '`open`: nothing replaces it. `in_review`: a tagged one waits for an approval here. `replaced`: a tagged one is approved for its routes and all its senders. Texts that match both leave with the id of the tagged one; those that match this one alone still leave with this one.',
    example: 'open',
  }),
  replaced_by: text(
    'The template with the same fixed text and tags in place of {#var#}, approved or in review.',
    TEMPLATE_ID,
  ).nullable(),
  missing_senders: z.array(text()).meta({
    description: 'Senders for which no approved tagged one replaces it.',
    example: ['HARKRA'],
  }),
};

function untaggedRecord({ template, slots, state, successor, missing }: Untagged) {
  const { dltId, name, senders, content } = template;
  return {
    ...{ template_id: dltId, name, senders, content, untagged_slots: slots, state },
    replaced_by: successor?.dltId ?? null,
    missing_senders: missing,
  };
}

const PERCENT = 99;
const percent = otherwise(
  wholeOf('The percentage of the values that a tag must take to be proposed.', 50, 100, PERCENT),
  () => PERCENT,
);

/** Messages read of a template: for one, and for each of a file. */
const ENOUGH = 2_000;
const ENOUGH_OF_MANY = 300;
const EXAMPLES_MAX = 10;
/** The most templates in a file. It has those that are not replaced yet. */
const FILE_MAX = 200;

/** For how many of the last 90 days the account's texts are kept, and since when. */
async function knownSince({ db, clock, config }: Gateway, { _id }: Owner) {
  const { messageDays = DAYS } = (await findAccount(db, _id)) ?? {};
  const days = Math.min(DAYS, config.textDays, config.messageDays, messageDays);
  return { days, from: new Date(clock.now().getTime() - days * DAY_MS) };
}

export const untaggedTemplate = endpoint({
  id: 'untaggedTemplate',
  call: 'templates.proposeTags',
  method: 'get',
  path: '/v2/account/untagged-templates/{template_id}',
  tag: 'Account',
  summary: 'Tags that fit what was sent',
  description:
    'Extension. Of each {#var#} of a template the narrowest tag that takes at least `percent` of the values that were sent in it, and the messages that the tagged template would not have matched. The values are of at most 2,000 messages of the last 90 days (of fewer if it has more than 10 slots), the newest that are found among 20,000 of the account. Counts as 20 requests.',
  scopes: ['read', 'manage'],
  params: { template_id: text('Its id on the DLT platform.', TEMPLATE_ID) },
  query: { percent },
  answer: named('TagProposal', {
    ...UNTAGGED,
    tagged_content: text('Its text with the proposed tags. A slot without a proposal stays {#var#}.', {
      example: 'Your code is {#numeric#}. Do not share it.',
    }),
    slots: z.array(
      z.strictObject({
        number: whole('Among all slots of the template, from 1.', { example: 1 }),
        tag: z
          .enum(TAGS)
          .meta({ id: 'VariableTag', description: 'What a slot holds, as TRAI has named it.' })
          .nullable()
          .meta({ description: 'Null when no tag takes so many, or nothing was sent.', example: 'numeric' }),
        takes: z
          .strictObject(
            Object.fromEntries(TAGS.map((tag) => [tag, whole('Values.')])) as Record<(typeof TAGS)[number], z.ZodInt>,
          )
          .meta({ description: 'How many of the values each tag would take.' }),
        touches: flag('Another slot touches it. DLT platforms want text between slots: change the text.'),
      }),
    ),
    messages: whole('How many messages the proposal rests on.', { example: 2000 }),
    messages_counted: whole('How many were sent with the template, by the hourly counts.', { example: 81342 }),
    known_days: whole('For how many of the last 90 days texts are kept (`HARKARA_TEXT_DAYS`).', { example: 90 }),
    oldest: text('When the oldest of them was made.', { format: 'date-time' }).nullable(),
    refused: whole('How many of them the tagged template would not match.', { example: 1 }),
    text_shown: z.enum(['whole', 'masked', 'hidden']).meta({
      description:
        'Of the examples. `masked`: digits of codes are not shown to you; of verifications, to nobody. `hidden`: no texts are.',
      example: 'masked',
    }),
    examples: z
      .array(
        z.strictObject({
          message_id: text(undefined, { example: 'msg_01m7znjn7hdb5pft3awkb6pgvz' }),
          slots: z.array(whole()).meta({ description: 'The slots whose value the tag does not take.', example: [1] }),
          text: text(undefined, { example: 'Your code is ••••. Do not share it.' }).nullable(),
        }),
      )
      .meta({ description: 'The newest that would be refused, at most 10.' }),
  }),
  async handle(gateway, { caller, requester, params: { template_id: dltId }, query }) {
    const { db } = gateway;
    const { account } = caller;
    return new CostlyRead(CSV_COST, async () => {
      const found = (await findUntagged(db, account)).find(({ template }) => template.dltId === dltId);
      if (found === undefined) {
        return refused('not_found', { detail: 'The account has no approved template of this id with {#var#}.' });
      }
      const { days, from } = await knownSince(gateway, account);
      const { texts, counted } = await sampleTexts(db, account._id, [dltId], from, ENOUGH);
      const sent = texts.get(dltId) ?? [];
      const proposal = await propose(found.template, account, sent, query.percent / 100, homeOfCtas(account));
      const oldest = sent.at(-1)?.id;
      return {
        ...untaggedRecord(found),
        tagged_content: proposal.content,
        slots: proposal.slots.map(({ index, tag, takes, touches }) => ({
          ...{ number: index + 1, tag: tag ?? null, takes, touches },
        })),
        ...{
          messages: proposal.messages,
          messages_counted: Math.max(counted.get(dltId) ?? 0, proposal.messages),
          known_days: days,
        },
        oldest: oldest === undefined ? null : isoTimestamp(idTime(oldest)),
        refused: proposal.refused.length,
        ...examplesOf(proposal, textRulesFor(requester)),
      };
    });
  },
});

function examplesOf({ refused: all }: Proposal, rules: TextRules) {
  const examples = all.slice(0, EXAMPLES_MAX).map(({ id, slots, ...sent }) => ({
    message_id: id,
    slots: slots.map((index) => index + 1),
    text: saidOf(sent, rules).text ?? null,
  }));
  return { text_shown: rules.sent, examples };
}

/** Columns named as in the portals' own exports: with the id that the portal gives, the file can be imported. */
const COLUMNS = {
  'Template Name': ({ template }: Row) => template.name,
  'Template Type': ({ template: { category, routes } }: Row) =>
    category === 'transactional'
      ? 'Transactional'
      : routes.includes('promotional')
        ? 'Promotional'
        : 'Service Implicit',
  Header: ({ template }: Row) => template.senders.join(','),
  'Template Content': ({ content }: Row) => content,
  'Variable Tags': ({ slots }: Row) => slots.map(({ tag }) => tag).join(','),
  'Entity ID': ({ template, entityId }: Row) => template.entityId ?? entityId,
  'Old Template ID': ({ template }: Row) => template.dltId,
  'Old Content': ({ template }: Row) => template.content,
  'Messages Read': ({ messages }: Row) => messages,
  'Messages Refused': ({ refused: all }: Row) => all.length,
};
type Row = Proposal & Pick<Untagged, 'template'> & { readonly entityId: string | undefined };

async function taggedFile(gateway: Gateway, account: CallerAccount, wanted: number): Promise<string> {
  const found = (await findUntagged(gateway.db, account)).filter(({ state }) => state !== 'replaced');
  const some = found.slice(0, FILE_MAX);
  const { from } = await knownSince(gateway, account);
  const ids = some.map(({ template }) => template.dltId);
  const { texts } = await sampleTexts(gateway.db, account._id, ids, from, ENOUGH_OF_MANY);
  const rows: Row[] = [];
  for (const one of some) {
    const sent = texts.get(one.template.dltId) ?? [];
    const proposal = await propose(one.template, account, sent, wanted / 100, homeOfCtas(account));
    if (proposal.slots.some(({ tag }) => tag === undefined)) continue;
    rows.push({ ...proposal, template: one.template, entityId: account.entityId });
  }
  return csvText(COLUMNS, rows);
}

export const untaggedTemplates = endpoint({
  id: 'untaggedTemplates',
  call: 'templates.untagged',
  method: 'get',
  path: '/v2/account/untagged-templates',
  tag: 'Account',
  summary: 'DLT templates that still have {#var#}',
  description:
    'Extension. Operators take new templates with typed slots only ({#numeric#}, {#alphanumeric#}, {#url#}, {#urlott#}, {#cbn#}, {#email#}) and are closing {#var#}. Approved templates that have it, with what replaces them. With `format=csv` those that are not replaced, and of which every slot has a proposal, tagged, with the names of columns that the DLT portals have: at most 200, by 300 messages of each. `Template Content` has the tags in the text, as Jio, Airtel, Vi and BSNL write them; for SmartPing and Tata, which keep {#var#} and have the tags beside the text, take `Old Content` and `Variable Tags`. Register them on the portal, export them there, and import that export here. Counts as 5 requests, a file as 20.',
  scopes: ['read', 'manage'],
  test: 'same',
  query: {
    format: withDefault(choice(['json', 'csv'], '`csv`: the tagged templates as a file.'), 'json'),
    percent,
    account: pageAccount(),
    mode: pageMode(),
  },
  answer: named('UntaggedTemplates', {
    total: whole('Templates that still have {#var#} and are not replaced.', { example: 1 }),
    replaced: whole('Templates that still have {#var#} and are replaced.', { example: 0 }),
    data: z.array(z.strictObject(UNTAGGED)).meta({ description: 'All of them by id, at most 500.' }),
  }),
  openapi: csvAnswer(
    `${csvHead(COLUMNS)}Login code,Service Implicit,HARKRA,Your code is {#numeric#}. Do not share it.,numeric,1101160000000000001,1107160000000012345,${CONTENT},300,0\r\n`,
  ),
  handle(gateway, { caller: { account }, query: { format, percent: wanted } }) {
    if (format === 'csv') {
      const file = { name: 'tagged-templates.csv', contentType: CSV_TYPE };
      return new CostlyRead<never>(CSV_COST, () => taggedFile(gateway, account, wanted), file);
    }
    return new CostlyRead(LIST_COST, async () => {
      const found = await findUntagged(gateway.db, account);
      const replaced = found.filter(({ state }) => state === 'replaced').length;
      return {
        ...{ total: found.length - replaced, replaced },
        data: found.slice(0, LISTED_MAX).map(untaggedRecord),
      };
    });
  },
});
const LIST_COST = 5;
