import { type ChatTemplateDocument, chatTemplateId } from '../../../shared/chat-templates/chat-template.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { objectOf } from './answer.ts';

export interface TemplatePage {
  readonly templates: readonly ChatTemplateDocument[];
  /** Where the next page begins; undefined: this was the last. */
  readonly after: string | undefined;
}

/**
 * Reads one page of `GET /{business}/message_templates`. What is no template is left out; undefined when it is no page at all.
 * Pure.
 */
export function readTemplatePage(
  account: AccountId,
  body: Readonly<Record<string, unknown>> | undefined,
  syncedAt: Date,
): TemplatePage | undefined {
  if (!Array.isArray(body?.data)) return undefined;
  const templates = body.data.flatMap((entry) => readTemplate(account, objectOf(entry), syncedAt) ?? []);
  const paging = objectOf(body.paging);
  const after = objectOf(paging?.cursors)?.after;
  // The address in `next` is not followed: the token would go wherever it says.
  const more = typeof paging?.next === 'string' && typeof after === 'string' && after !== '';
  return { templates, after: more ? after : undefined };
}

function readTemplate(
  account: AccountId,
  entry: Readonly<Record<string, unknown>> | undefined,
  syncedAt: Date,
): ChatTemplateDocument | undefined {
  const { name, language, status, category } = entry ?? {};
  if (typeof name !== 'string' || typeof language !== 'string' || typeof status !== 'string') return undefined;
  const components = componentsOf(entry?.components);
  const named = text(entry?.parameter_format) === 'NAMED';
  const unsendable = named ? 'variables that have names' : components.map(needs).find((need) => need !== undefined);
  return {
    _id: chatTemplateId(account, name, language),
    account,
    name,
    language,
    status: status.toLowerCase(),
    category: text(category).toLowerCase(),
    variables: Math.max(0, ...components.filter((one) => typeOf(one) === 'BODY').map((one) => variablesOf(one.text))),
    ...(unsendable === undefined ? {} : { unsendable }),
    syncedAt,
  };
}

type Component = Readonly<Record<string, unknown>>;

function componentsOf(value: unknown): readonly Component[] {
  return Array.isArray(value) ? value.map(objectOf).filter((entry) => entry !== undefined) : [];
}

/** What a component wants that a name, a language and the body's values cannot give it. */
function needs(component: Component): string | undefined {
  switch (typeOf(component)) {
    case 'BODY':
      return hasNamed(component.text) ? 'variables that have names' : undefined;
    case 'FOOTER':
      return undefined;
    case 'HEADER':
      if (text(component.format) !== 'TEXT') return `a header of type ${text(component.format).toLowerCase()}`;
      return hasVariable(component.text) ? 'a variable in its header' : undefined;
    case 'BUTTONS':
      return componentsOf(component.buttons)
        .map(buttonNeeds)
        .find((need) => need !== undefined);
    default:
      return `a component of type ${typeOf(component).toLowerCase()}`;
  }
}

/** Buttons that are sent as they are. */
const PLAIN_BUTTONS: ReadonlySet<string> = new Set(['QUICK_REPLY', 'PHONE_NUMBER', 'VOICE_CALL', 'CATALOG']);

function buttonNeeds(button: Component): string | undefined {
  const type = typeOf(button);
  if (type === 'URL') return hasVariable(button.url) ? 'a variable in a button' : undefined;
  return PLAIN_BUTTONS.has(type) ? undefined : `a button of type ${type.toLowerCase()}`;
}

/** The highest number among `{{1}}`, `{{2}}`, …: values are given in order, also for one that the text leaves out. */
function variablesOf(value: unknown): number {
  return Math.max(0, ...[...text(value).matchAll(/\{\{\s*(\d{1,3})\s*\}\}/g)].map(([, digits]) => Number(digits)));
}

function hasVariable(value: unknown): boolean {
  return /\{\{[^{}]{1,64}\}\}/.test(text(value));
}

function hasNamed(value: unknown): boolean {
  return /\{\{\s*[A-Za-z_][\w]{0,63}\s*\}\}/.test(text(value));
}

function typeOf(component: Component): string {
  return text(component.type).toUpperCase();
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
