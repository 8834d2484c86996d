import { z } from 'zod';
import {
  INTERACTIVE_TYPES,
  type InteractiveContent,
  type ListSection,
} from '../../../shared/messages/document/chat-message.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { isObject, type JsonObject } from '../../http/context.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import {
  boolean,
  choice,
  Fault,
  type Kind,
  list,
  object,
  optional,
  required,
  string,
  withDefault,
} from '../../http/fields/field.ts';
import { type Given, type Rule, request } from '../../http/fields/request.ts';
import { askOfFrame, EXTENSIONS, FRAME, frameOf, replyTo, text, to } from './fields.ts';
import { FREE_FORM, freeForm } from './free-form.ts';
import { digits, noteSections, productId, productIds, productSection, SECTIONS_MAX, sectionTitle } from './products.ts';

/** Messages answered by a touch, beside reply buttons. WhatsApp's limits ("Interactive list messages" and so on). */

type Type = InteractiveContent['type'];

const ROWS_MAX = 10;
const DATA_CHARACTERS_MAX = 4_096;

const ROW = object({
  id: required(text({ description: 'You get it back when the customer chooses it.', maxLength: 200, trimmed: true })),
  title: required(text({ description: 'What the customer sees.', maxLength: 24 })),
  description: optional(text({ description: 'Small text below the title.', maxLength: 72 })),
});

const SECTION = object({
  title: sectionTitle,
  rows: optional(list(ROW, { description: 'Of a list: at most 10 in all.', minItems: 1, maxItems: ROWS_MAX })),
  product_ids: optional(productIds),
});

const data: Kind<JsonObject> = z
  .custom<JsonObject>(isObject, { error: 'It must be an object', abort: true })
  .meta({
    type: 'object',
    additionalProperties: true,
    description: 'What the first screen is given: an object of at most 4,096 characters as JSON.',
  })
  .superRefine((value, { issues }) => {
    if (JSON.stringify(value).length <= DATA_CHARACTERS_MAX) return;
    const params = new Fault('too_long', `It may have at most ${DATA_CHARACTERS_MAX} characters as JSON.`);
    issues.push({ code: 'custom', input: value, params, message: params.detail });
  });

const FLOW = object({
  id: optional(digits('Its id. Give `id` or `name`.')),
  name: optional(text({ description: 'Its name, in place of the id.', maxLength: 200 })),
  token: optional(text({ description: 'Your own word for this run; it comes back with the answers.', maxLength: 200 })),
  screen: optional(text({ description: 'Id of the first screen; without it the first one.', maxLength: 200 })),
  data: optional(data),
  ask_server: withDefault(boolean("The flow's own server says what is shown first."), false),
  draft: withDefault(boolean('For a flow that is not published yet.'), false),
});

const FIELDS = {
  type: required(choice(INTERACTIVE_TYPES, 'What the customer can do.')),
  body: optional(text({ description: 'The text. Only a `product` may have none.', maxLength: 1_024 })),
  button: optional(
    text({ description: 'Label of what opens the list, the address or the flow: needed by them.', maxLength: 20 }),
  ),
  sections: optional(list(SECTION, { description: 'Of list and product_list.', minItems: 1, maxItems: SECTIONS_MAX })),
  url: optional(
    string({ description: 'Of url: what the button opens.', format: 'uri', minLength: 1, maxLength: 2_000 }, (value) =>
      /^https?:\/\/[^\s/]/.test(value) && value.length <= 2_000
        ? value
        : new Fault('invalid_value', 'It must be an http or https address of at most 2,000 characters.'),
    ),
  ),
  flow: optional(FLOW.meta({ description: 'Of flow: which one, and how it begins.' })),
  catalog_id: optional(digits('Of product and product_list: the catalog.')),
  product_id: optional(productId('Of product; of catalog the one whose picture is shown.')),
  ...FRAME,
};

type Field = Exclude<keyof typeof FIELDS, 'type'>;
type Section = NonNullable<Given<typeof FIELDS>['sections']>[number];

/** The fields that each type needs and may have. `header`: its kind. */
const SHAPES: Readonly<
  Record<Type, { readonly needs: readonly Field[]; readonly may: readonly Field[]; readonly header?: 'text' }>
> = {
  list: { needs: ['body', 'button', 'sections'], may: ['header', 'footer'], header: 'text' },
  url: { needs: ['body', 'button', 'url'], may: ['header', 'footer'] },
  flow: { needs: ['body', 'button', 'flow'], may: ['header', 'footer'] },
  location_request: { needs: ['body'], may: [] },
  contact_request: { needs: ['body'], may: [] },
  product: { needs: ['catalog_id', 'product_id'], may: ['body', 'footer'] },
  product_list: { needs: ['body', 'header', 'catalog_id', 'sections'], may: ['footer'], header: 'text' },
  catalog: { needs: ['body'], may: ['footer', 'product_id'] },
};

const fieldsFitType: Rule<typeof FIELDS> = ({ type, header }, has, problems) => {
  if (type === undefined) return;
  const { needs, may, header: kind } = SHAPES[type];
  const own: readonly string[] = [...needs, ...may];
  for (const name of needs) if (!has(name)) problems.add(name, 'missing_field', `"${type}" needs it.`);
  for (const name of Object.keys(FIELDS)) {
    if (name !== 'type' && has(name) && !own.includes(name)) problems.add(name, 'conflict', `"${type}" takes none.`);
  }
  if (kind === 'text' && header?.type !== undefined && header.type !== 'text') {
    problems.add('header.type', 'conflict', `"${type}" takes a header of text only.`);
  }
};

const sectionsFitType: Rule<typeof FIELDS> = ({ type, sections }, _has, problems) => {
  if (sections === undefined || (type !== 'list' && type !== 'product_list')) return;
  const [own, other] = type === 'list' ? (['rows', 'product_ids'] as const) : (['product_ids', 'rows'] as const);
  for (const [i, section] of sections.entries()) {
    const place = `sections[${i}]`;
    if (section[own] === undefined) problems.add(`${place}.${own}`, 'missing_field', `"${type}" needs it.`);
    if (section[other] !== undefined) problems.add(`${place}.${other}`, 'conflict', `"${type}" takes none.`);
  }
  noteSections(sections, 'sections', problems);
  if (type === 'list') noteRows(sections, problems);
};

function noteRows(sections: readonly Section[], problems: FieldProblems): void {
  const count = sections.reduce((sum, { rows = [] }) => sum + rows.length, 0);
  if (count > ROWS_MAX) {
    problems.add('sections', 'wrong_count', `They have ${count} rows together; at most ${ROWS_MAX} are allowed.`);
  }
  const seen = new Set<string>();
  for (const [i, { rows = [] }] of sections.entries()) {
    for (const [j, { id }] of rows.entries()) {
      if (seen.has(id)) problems.add(`sections[${i}].rows[${j}].id`, 'duplicate', 'Another row has the same id.');
      seen.add(id);
    }
  }
}

const flowIsOne: Rule<typeof FIELDS> = ({ flow }, _has, problems) => {
  if (flow === undefined) return;
  const { id, name, ask_server: asksServer, screen, data: given } = flow;
  if ((id === undefined) === (name === undefined)) {
    problems.add('flow.id', id === undefined ? 'missing_field' : 'conflict', 'Give `id` or `name`.');
  }
  for (const [member, value] of Object.entries({ screen, data: given })) {
    if (asksServer && value !== undefined) {
      problems.add(`flow.${member}`, 'conflict', 'With `ask_server` the server of the flow says that.');
    }
  }
};

const INTERACTIVE = request(
  { to, ...FIELDS, reply_to: replyTo, ...EXTENSIONS },
  [],
  [fieldsFitType, sectionsFitType, flowIsOne],
);

export const chatappSendInteractive = freeForm({
  id: 'chatappSendInteractive',
  call: 'chatapp.sendInteractive',
  path: '/v2/chatapp/send-interactive',
  summary: 'Send a list, a link, a flow, a request for a location, or products',
  description: `Extension. ${FREE_FORM} \`list\`: up to ten rows to choose from. \`url\`: a button that opens an address. \`flow\`: a form of WhatsApp Flows. \`location_request\`: a button by which the customer sends the location. \`contact_request\`: one by which a customer who shows no number gives it; from then on the number and the user id are one customer. \`product\`, \`product_list\`, \`catalog\`: of the catalog that the provider has of you. What the customer chooses comes as \`message.received\`: of type \`interactive\` (its \`interactive\` has your ids), \`location\`, \`contacts\` or \`order\`.`,
  body: INTERACTIVE,
  problems: ['url_not_allowed'],
  examples: {
    list: {
      to: '919876543210',
      type: 'list',
      body: 'How should we send it?',
      button: 'Choose',
      sections: [
        {
          rows: [
            { id: 'express', title: 'Express', description: '1 to 2 days' },
            { id: 'post', title: 'Post', description: '3 to 5 days' },
          ],
        },
      ],
    },
    url: {
      to: '919876543210',
      type: 'url',
      body: 'Your parcel is on its way.',
      button: 'Track it',
      url: 'https://example.com/track/1234',
    },
    location_request: { to: '919876543210', type: 'location_request', body: 'Where should we bring it?' },
    contact_request: { to: '919876543210', type: 'contact_request', body: 'Which number may we call?' },
    product: { to: '919876543210', type: 'product', catalog_id: '194836987003835', product_id: 'sku-1' },
  },
  order({ caller, read: { given, problems } }, { mediaUrl }) {
    const account = caller.account._id;
    const frame = frameOf(given, account, mediaUrl, problems);
    const content = problems.count > 0 ? undefined : contentOf(given);
    return {
      replyTo: given.reply_to,
      content: content && { ...content, ...frame },
      ...askOfFrame(frame, account, mediaUrl, problems),
    };
  },
});

/** The content without its frame. Only for requests without problems, which have all that the type needs. Pure. */
function contentOf(given: Given<typeof FIELDS>): InteractiveContent | undefined {
  const {
    type,
    body,
    button = '',
    url = '',
    sections = [],
    flow,
    catalog_id: catalog = '',
    product_id: product,
  } = given;
  if (type === undefined) return undefined;
  const common = { kind: 'interactive', ...defined({ body }) } as const;
  switch (type) {
    case 'list':
      return { ...common, type, action: { button, sections: sections.map(listSection) } };
    case 'url':
      return { ...common, type, action: { button, url } };
    case 'flow': {
      if (flow === undefined) return undefined;
      const { id, name = '', token, screen, data: shown, ask_server: asksServer, draft } = flow;
      const own = { button, flow: id === undefined ? { name } : { id }, ...defined({ token, screen, data: shown }) };
      return { ...common, type, action: { ...own, ...(asksServer && { asksServer }), ...(draft && { draft }) } };
    }
    case 'location_request':
    case 'contact_request':
      return { ...common, type };
    case 'product':
      return { ...common, type, action: { catalog, product: product ?? '' } };
    case 'product_list':
      return { ...common, type, action: { catalog, sections: sections.map(productSection) } };
    case 'catalog':
      return { ...common, type, action: defined({ product }) };
  }
}

function listSection({ title, rows = [] }: Section): ListSection {
  return { ...defined({ title }), rows: rows.map((row) => defined(row)) };
}
