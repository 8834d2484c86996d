import type { ServerResponse } from 'node:http';
import type { Delays } from '../pace/pace.ts';
import type { Callbacks } from './callbacks.ts';
import type { Uploads } from './files.ts';
import { filled, type Json, list, object, sendJson, type TemplateError } from './http.ts';
import type { ProviderEvent } from './options.ts';
import { MAGIC_TEMPLATES, type Template, type TemplateComponent, variables } from './templates.ts';

export interface AskedTemplate {
  readonly method: 'POST' | 'EDIT' | 'DELETE';
  readonly name: string;
  /** The answer's HTTP status; 0 if the connection was cut. */
  readonly status: number;
}

interface ReviewDeps {
  /** The provider's own list, which is changed. */
  readonly templates: Template[];
  readonly reviewMs: number;
  readonly callbacks: Callbacks;
  readonly delays: Delays;
  readonly uploads: Uploads;
  readonly onEvent?: (event: ProviderEvent) => void;
}

const FIRST_ID = 1_689_556_908_129_832;
/** Editable states (Business Management API, "Message templates"). */
const EDITABLE: readonly string[] = ['APPROVED', 'REJECTED', 'PAUSED'];

/** Answers requests for templates, reviews the templates, and reports results by callbacks. */
export class TemplateReviews {
  readonly asked: AskedTemplate[] = [];
  readonly #deps: ReviewDeps;
  /** Unique across business accounts. */
  static #ids = 0;

  constructor(deps: ReviewDeps) {
    this.#deps = deps;
  }

  has(id: string): boolean {
    return this.#deps.templates.some((template) => template.id === id);
  }

  create(body: Json, response: ServerResponse): void {
    const { templates } = this.#deps;
    const { name, language, category, components } = body;
    const fault = checkDraft(body) ?? this.#deps.uploads.faultOf(body) ?? taken(templates, body);
    if (fault !== undefined) {
      this.#refuse('POST', String(name), fault, response);
      return;
    }
    TemplateReviews.#ids += 1;
    const template: Template = {
      id: String(FIRST_ID + TemplateReviews.#ids),
      name: String(name),
      language: String(language),
      status: 'PENDING',
      category: categoryOf(category),
      components: listed(components),
    };
    templates.push(template);
    this.#tell(template.name, 'PENDING');
    this.#review(template);
    if (template.name.includes('cut')) {
      this.asked.push({ method: 'POST', name: template.name, status: 0 });
      response.destroy();
      return;
    }
    const { id, status } = template;
    this.#answer('POST', template.name, { id, status, category: template.category }, response);
  }

  edit(id: string, body: Json, response: ServerResponse): void {
    const template = this.#deps.templates.find((one) => one.id === id);
    if (template === undefined) return;
    const { name, language, category } = template;
    const fault = EDITABLE.includes(template.status)
      ? (keptCategory(template, body) ??
        checkDraft({ name, language, category, ...body }) ??
        this.#deps.uploads.faultOf(body))
      : NOT_EDITABLE;
    if (fault !== undefined) {
      this.#refuse('EDIT', template.name, fault, response);
      return;
    }
    const { rejected_reason: _, ...rest } = template;
    const edited: Template = {
      ...rest,
      status: 'PENDING',
      category: body.category === undefined ? category : categoryOf(body.category),
      components: listed(body.components),
    };
    this.#replace(edited);
    this.#review(edited);
    this.#answer('EDIT', template.name, { success: true }, response);
  }

  /** Deletes a template in all languages, or in the one of `hsm_id`. */
  remove(query: URLSearchParams, response: ServerResponse): void {
    const { templates } = this.#deps;
    const name = query.get('name') ?? '';
    const id = query.get('hsm_id');
    const gone = templates.filter((template) => template.name === name && (id === null || template.id === id));
    if (gone.length === 0) {
      this.#refuse('DELETE', name, NOT_FOUND, response);
      return;
    }
    for (const template of gone) {
      templates.splice(templates.indexOf(template), 1);
      this.#tell(name, 'DELETED');
    }
    this.#answer('DELETE', name, { success: true }, response);
  }

  /** Runs the steps of a review, one every `reviewMs`. */
  #review({ id, name }: Template): void {
    const { delays, reviewMs } = this.#deps;
    const magic = MAGIC_TEMPLATES.find(({ contains }) => name.includes(contains));
    for (const [i, step] of (magic?.steps ?? [{ event: 'APPROVED' as const }]).entries()) {
      delays.after(reviewMs * (i + 1), () => {
        const template = this.#deps.templates.find((one) => one.id === id);
        if (template === undefined) return;
        const { event, ...more } = step;
        const reason = 'reason' in more ? more.reason : 'NONE';
        this.#replace({ ...template, status: event, ...(event === 'REJECTED' && { rejected_reason: reason }) });
        this.#tell(name, event);
        const told = this.#changeOf(template, event, { reason, ...('info' in more ? more.info : {}) });
        this.#deps.callbacks.addTemplateChange('message_template_status_update', told);
      });
    }
  }

  /** The callback's value. Its id is a number, unlike the list's. */
  #changeOf({ id, name, language, category }: Template, event: string, more: object): object {
    return {
      event,
      message_template_id: Number(id),
      message_template_name: name,
      message_template_language: language,
      message_template_category: category,
      ...more,
    };
  }

  #replace(template: Template): void {
    const { templates } = this.#deps;
    const at = templates.findIndex(({ id }) => id === template.id);
    templates.splice(at, 1, template);
  }

  #tell(name: string, status: string): void {
    this.#deps.onEvent?.({ kind: 'template', name, status });
  }

  #answer(method: AskedTemplate['method'], name: string, body: object, response: ServerResponse): void {
    this.asked.push({ method, name, status: 200 });
    sendJson(response, 200, body);
  }

  #refuse(method: AskedTemplate['method'], name: string, fault: TemplateError, response: ServerResponse): void {
    this.asked.push({ method, name, status: 400 });
    const { code = 100, subcode, title, message } = fault;
    sendJson(response, 400, {
      error: {
        message: 'Invalid parameter',
        type: 'OAuthException',
        code,
        error_subcode: subcode,
        is_transient: false,
        error_user_title: title,
        error_user_msg: message,
        fbtrace_id: 'simulated',
      },
    });
  }
}

const NOT_EDITABLE: TemplateError = {
  subcode: 2388039,
  title: "Message template can't be edited",
  message: 'Only approved, rejected and paused templates can be edited.',
};
const NOT_FOUND: TemplateError = {
  subcode: 2593002,
  title: 'Message template was not found',
  message: 'There is no message template with this name.',
};

/** An approved template keeps its category (Business Management API, "Message templates"). */
function keptCategory({ status, category }: Template, body: Json): TemplateError | undefined {
  if (status !== 'APPROVED' || body.category === undefined || body.category === category) return undefined;
  return { ...NOT_EDITABLE, message: 'The category of an approved template cannot be edited.' };
}

function categoryOf(given: unknown): Template['category'] {
  const asked = String(given).toUpperCase();
  return asked === 'MARKETING' || asked === 'AUTHENTICATION' ? asked : 'UTILITY';
}

function taken(templates: readonly Template[], { name, language }: Json): TemplateError | undefined {
  if (!templates.some((template) => template.name === name && template.language === language)) return undefined;
  return {
    subcode: 2388024,
    title: 'Content in this language already exists',
    message: `There is already ${language} content for this template. You can create a new template and try again.`,
  };
}

/** As in the list: without examples, with a label on copy-code buttons. */
function listed(components: unknown): readonly TemplateComponent[] {
  return list(components).map(({ example: _, ...given }) => {
    const component = withOwnTexts(given);
    const buttons = list(component.buttons).map(({ example: _e, ...button }) =>
      button.type === 'COPY_CODE' ? { text: 'Copy offer code', ...button } : (asUrl(button) ?? button),
    );
    // `checkDraft` has checked its form.
    return { ...component, ...(buttons.length > 0 && { buttons }) } as unknown as TemplateComponent;
  });
}

/** The provider writes authentication templates' texts itself. */
function withOwnTexts(component: Json): Json {
  const { add_security_recommendation: advice, code_expiration_minutes: minutes, ...rest } = component;
  if (minutes !== undefined) return { ...rest, text: `This code expires in ${minutes} minutes.` };
  if (advice === undefined) return rest;
  return {
    ...rest,
    text: `*{{1}}* is your verification code.${advice ? ' For your security, do not share this code.' : ''}`,
  };
}

/** "In the request the type is OTP; once it is made, it is URL." */
function asUrl({ type, otp_type: kind, text = 'Copy code' }: Json): Json | undefined {
  if (type !== 'OTP') return undefined;
  return { type: 'URL', text, url: `https://www.whatsapp.com/otp/code/?otp_type=${kind}&code=otp{{1}}` };
}

/**
 * What WhatsApp refuses at once ("Message templates", error subcodes): missing parts and examples. Names, languages,
 * lengths and counts are not checked, because Harkara's endpoint refuses those before.
 */
function checkDraft({ name, language, category, components }: Json): TemplateError | undefined {
  if (![name, language, category].every(filled)) return fault('name, language and category are needed.');
  const parts = list(components);
  if (String(category).toUpperCase() === 'AUTHENTICATION') return checkCode(parts);
  const body = parts.find(({ type }) => type === 'BODY');
  if (body === undefined || !filled(body.text)) return fault('The body is missing.');
  return parts.map(checkPart).find((problem) => problem !== undefined) ?? checkBody(String(body.text), body);
}

/** "Authentication templates" have no text of their own and one button that passes the code on. */
function checkCode(parts: readonly Json[]): TemplateError | undefined {
  const [button, second] = list(parts.find(({ type }) => type === 'BUTTONS')?.buttons);
  if (button?.type !== 'OTP' || second !== undefined) return fault('One button of type OTP is needed.');
  if (parts.some((part) => part.text !== undefined)) return fault('The texts are not to be given.');
  const { otp_type: type, supported_apps: apps, zero_tap_terms_accepted: accepted } = button;
  if (type === 'COPY_CODE') return apps === undefined ? undefined : fault('A code to copy has no apps.');
  if (type !== 'ONE_TAP' && type !== 'ZERO_TAP') return fault('The otp_type is not known.');
  if (!list(apps).every((app) => filled(app.package_name) && filled(app.signature_hash)) || list(apps).length === 0) {
    return fault('The apps are missing.');
  }
  return type === 'ZERO_TAP' && accepted !== true ? fault('The terms are not accepted.') : undefined;
}

function checkPart(part: Json): TemplateError | undefined {
  if (part.type === 'CAROUSEL') return checkCards(list(part.cards));
  if (part.type === 'LIMITED_TIME_OFFER') {
    const { text, has_expiration: expires } = object(part.limited_time_offer) ?? {};
    return filled(text) && typeof expires === 'boolean' ? undefined : fault('text and has_expiration of the offer.');
  }
  if (part.type !== 'HEADER') return undefined;
  const sample = object(part.example);
  if (['IMAGE', 'VIDEO', 'DOCUMENT'].includes(String(part.format)) && !Array.isArray(sample?.header_handle)) {
    return {
      subcode: 2388273,
      title: 'Missing sample',
      message: 'A header with a file needs a sample: header_handle.',
    };
  }
  return variables(String(part.text)).length > 0 && !Array.isArray(sample?.header_text)
    ? fault('The variable of the header needs an example.')
    : undefined;
}

/** "All cards defined on a template must have the same components." */
function checkCards(cards: readonly Json[]): TemplateError | undefined {
  const kinds = cards.map(({ components }) =>
    list(components).map(({ type, format, buttons }) => [type, format, list(buttons).map((button) => button.type)]),
  );
  if (new Set(kinds.map((kind) => JSON.stringify(kind))).size !== 1)
    return fault('The cards must have the same components.');
  const parts = cards.flatMap(({ components }) => list(components));
  return parts.map(checkPart).find((problem) => problem !== undefined);
}

function checkBody(text: string, body: Json): TemplateError | undefined {
  const names = variables(text);
  const examples = object(body.example)?.body_text;
  const given: unknown = Array.isArray(examples) ? examples[0] : undefined;
  return names.length > 0 && !(Array.isArray(given) && given.length === names.length)
    ? fault('Each variable of the body needs an example.')
    : undefined;
}

function fault(message: string): TemplateError {
  return { subcode: 2388072, title: 'Message template is incorrect', message };
}
