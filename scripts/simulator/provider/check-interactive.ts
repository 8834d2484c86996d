import { filled, type GraphError, type Json, list, object, surplus } from './http.ts';
import { ERRORS } from './magic-customers.ts';

const BODY_MAX = 1_024;
const SHORT_MAX = 60;
const LABEL_MAX = 20;
const TITLE_MAX = 24;
const ROWS_MAX = 10;
const PRODUCTS_MAX = 30;

type Action = (action: Json) => string | undefined;

/** Of each `interactive.type`: the parts that it may have beside its action, and what is wrong with an action. */
const TYPES: Readonly<
  Record<string, { readonly needs: readonly string[]; readonly may: readonly string[]; readonly action: Action }>
> = {
  button: { needs: ['body'], may: ['header', 'footer'], action: replyButtons },
  list: { needs: ['body'], may: ['header', 'footer'], action: rows },
  cta_url: { needs: ['body'], may: ['header', 'footer'], action: link },
  flow: { needs: ['body'], may: ['header', 'footer'], action: flow },
  location_request_message: {
    needs: ['body'],
    may: [],
    action: (action) => only(action, { name: 'send_location' }),
  },
  request_contact_info: {
    needs: ['body'],
    may: [],
    action: (action) => only(action, { name: 'request_contact_info' }),
  },
  product: {
    needs: [],
    may: ['body', 'footer'],
    action: ({ catalog_id: catalog, product_retailer_id: product }) =>
      filled(catalog) && filled(product) ? undefined : 'catalog_id and product_retailer_id',
  },
  product_list: { needs: ['header', 'body'], may: ['footer'], action: products },
  catalog_message: {
    needs: ['body'],
    may: ['footer'],
    action: (action) =>
      action.parameters === undefined || filled(object(action.parameters)?.thumbnail_product_retailer_id)
        ? only(action, { name: 'catalog_message' }, ['parameters'])
        : 'thumbnail_product_retailer_id',
  },
};

/** Only texts. */
const TEXT_HEADERS: readonly unknown[] = ['list', 'product_list'];

/** Reads `interactive` as the pages of the Cloud API describe it; what they do not name is refused. */
export function checkInteractive(interactive: Json | undefined): GraphError | undefined {
  const type = interactive?.type;
  const shape = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (interactive === undefined || shape === undefined) {
    return { ...ERRORS.parameter, details: `interactive.type ${String(type)} is not known` };
  }
  const odd = surplus(interactive, ['type', 'action', ...shape.needs, ...shape.may]);
  if (odd !== undefined) return { ...ERRORS.parameter, details: `interactive: unexpected key "${odd}"` };
  const missing = shape.needs.find((part) => interactive[part] === undefined);
  if (missing !== undefined) return { ...ERRORS.missing, details: `interactive.${missing}` };
  const problem =
    headerProblem(interactive) ??
    textProblem('body', interactive.body, BODY_MAX) ??
    textProblem('footer', interactive.footer, SHORT_MAX) ??
    shape.action(object(interactive.action) ?? {});
  return problem === undefined ? undefined : { ...ERRORS.value, details: `interactive: ${problem}` };
}

function textProblem(part: string, value: unknown, most: number): string | undefined {
  if (value === undefined) return undefined;
  const { text } = object(value) ?? {};
  return filled(text) && [...text].length <= most ? undefined : `${part}.text`;
}

function headerProblem({ type, header: given }: Json): string | undefined {
  if (given === undefined) return undefined;
  const header = object(given) ?? {};
  const { type: kind } = header;
  if (kind === 'text') return surplus(header, ['type', 'text']) ?? textProblem('header', header, SHORT_MAX);
  if (TEXT_HEADERS.includes(type) || (kind !== 'image' && kind !== 'video' && kind !== 'document'))
    return 'header.type';
  const file = object(header[kind]) ?? {};
  return /^https?:\/\//.test(String(file.link)) || filled(file.id) ? surplus(header, ['type', kind]) : `header.${kind}`;
}

function replyButtons({ buttons: given }: Json): string | undefined {
  const buttons = list(given);
  if (buttons.length < 1 || buttons.length > 3) return '1 to 3 buttons';
  const titles = new Set<unknown>();
  for (const button of buttons) {
    const { id, title } = (button.type === 'reply' && object(button.reply)) || {};
    if (!filled(id) || id.length > 256 || id !== id.trim()) return 'button id';
    if (!filled(title) || [...title].length > LABEL_MAX) return 'button title';
    titles.add(title);
  }
  return titles.size < buttons.length ? 'button titles must differ' : undefined;
}

function rows({ button, sections: given }: Json): string | undefined {
  if (!filled(button) || [...button].length > LABEL_MAX) return 'action.button';
  const sections = list(given);
  const all = sections.flatMap((section) => list(section.rows));
  if (all.length < 1 || all.length > ROWS_MAX) return `1 to ${ROWS_MAX} rows`;
  for (const { id, title, description } of all) {
    if (!filled(id) || id.length > 200) return 'row id';
    if (!filled(title) || [...title].length > TITLE_MAX) return 'row title';
    if (description !== undefined && (!filled(description) || [...description].length > 72)) return 'row description';
  }
  if (new Set(all.map(({ id }) => id)).size < all.length) return 'row ids must differ';
  return sectionProblem(sections, 'rows');
}

function products({ catalog_id: catalog, sections: given }: Json): string | undefined {
  if (!filled(catalog)) return 'catalog_id';
  return productSectionsProblem(given);
}

/** Of a list of products, in a message and in a template. */
export function productSectionsProblem(given: unknown): string | undefined {
  const sections = list(given);
  const all = sections.flatMap((section) => list(section.product_items));
  if (all.length < 1 || all.length > PRODUCTS_MAX) return `1 to ${PRODUCTS_MAX} products`;
  if (!all.every((item) => filled(item.product_retailer_id))) return 'product_retailer_id';
  return sectionProblem(sections, 'product_items');
}

function sectionProblem(sections: readonly Json[], member: string): string | undefined {
  if (sections.length < 1 || sections.length > 10) return '1 to 10 sections';
  for (const section of sections) {
    const { title } = section;
    if (list(section[member]).length === 0) return `a section without ${member}`;
    if (title === undefined ? sections.length > 1 : !filled(title) || [...title].length > TITLE_MAX) {
      return 'section title';
    }
  }
  return undefined;
}

function link(action: Json): string | undefined {
  const { display_text: label, url } = object(action.parameters) ?? {};
  if (!filled(label) || [...label].length > LABEL_MAX) return 'display_text';
  if (!/^https?:\/\/\S+$/.test(String(url))) return 'url';
  return only(action, { name: 'cta_url' }, ['parameters']);
}

const FLOW_MEMBERS = [
  ...['flow_message_version', 'flow_id', 'flow_name', 'flow_cta', 'flow_token', 'flow_action', 'mode'],
  'flow_action_payload',
];

function flow(action: Json): string | undefined {
  const parameters = object(action.parameters) ?? {};
  const { flow_message_version: version, flow_id: id, flow_name: name, flow_cta: label } = parameters;
  const { flow_action: what, flow_action_payload: payload } = parameters;
  if (version !== '3') return 'flow_message_version must be "3"';
  if (filled(id) === filled(name)) return 'exactly one of flow_id and flow_name';
  if (!filled(label) || [...label].length > LABEL_MAX) return 'flow_cta';
  if (what !== undefined && what !== 'navigate' && what !== 'data_exchange') return 'flow_action';
  if (what === 'data_exchange' && payload !== undefined) return 'flow_action_payload is for navigate';
  return surplus(parameters, FLOW_MEMBERS) ?? only(action, { name: 'flow' }, ['parameters']);
}

function only(action: Json, wanted: Json, more: readonly string[] = []): string | undefined {
  const wrong = Object.keys(wanted).find((key) => action[key] !== wanted[key]);
  return wrong === undefined ? surplus(action, [...Object.keys(wanted), ...more]) : `action.${wrong}`;
}
