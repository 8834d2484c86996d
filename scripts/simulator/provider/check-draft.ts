import { filled, type Json, list, object } from './http.ts';
import { variables } from './templates.ts';

/** An error of the Business Management API: mostly code 100, with a subcode and words for people. */
export interface TemplateError {
  readonly code?: number;
  readonly subcode: number;
  readonly title: string;
  readonly message: string;
}

const LONGEST = { HEADER: 60, BODY: 1_024, FOOTER: 60 } as const;

/** What WhatsApp refuses at once when a template is asked for ("Message templates", error subcodes). */
export function checkDraft({ name, language, category, components }: Json): TemplateError | undefined {
  if (typeof name !== 'string' || !/^[a-z0-9_]{1,512}$/.test(name)) return fault('The name must be a-z, 0-9 and _.');
  if (!filled(language)) return fault('The language is missing.');
  if (!['MARKETING', 'UTILITY', 'AUTHENTICATION'].includes(String(category).toUpperCase())) {
    return fault('The category is missing.');
  }
  const parts = list(components);
  if (String(category).toUpperCase() === 'AUTHENTICATION') return checkCode(parts);
  const body = parts.find(({ type }) => type === 'BODY');
  if (body === undefined || !filled(body.text)) return fault('The body is missing.');
  for (const part of parts) {
    const problem = checkPart(part);
    if (problem !== undefined) return problem;
  }
  return checkBody(String(body.text), body);
}

/** "Authentication templates": texts are not given, a button hands the code on. */
function checkCode(parts: readonly Json[]): TemplateError | undefined {
  const [button, second] = list(parts.find(({ type }) => type === 'BUTTONS')?.buttons);
  if (button?.type !== 'OTP' || second !== undefined) return fault('One button of type OTP is needed.');
  if (parts.some((part) => part.text !== undefined)) return fault('The texts are not to be given.');
  const minutes = parts.find(({ type }) => type === 'FOOTER')?.code_expiration_minutes ?? 1;
  if (!Number.isInteger(minutes) || Number(minutes) < 1 || Number(minutes) > 90) return fault('1 to 90 minutes.');
  const { otp_type: type, supported_apps: apps, zero_tap_terms_accepted: accepted } = button;
  if (type === 'COPY_CODE') return apps === undefined ? undefined : fault('A code to copy has no apps.');
  if (type !== 'ONE_TAP' && type !== 'ZERO_TAP') return fault('The otp_type is not known.');
  if (!list(apps).every((app) => filled(app.package_name) && filled(app.signature_hash)) || list(apps).length === 0) {
    return fault('The apps are missing.');
  }
  return type === 'ZERO_TAP' && accepted !== true ? fault('The terms are not accepted.') : undefined;
}

function checkPart(part: Json): TemplateError | undefined {
  if (part.type === 'LIMITED_TIME_OFFER') return checkOffer(part);
  if (part.type === 'CAROUSEL') return checkCards(list(part.cards));
  const longest = LONGEST[part.type as keyof typeof LONGEST];
  if (longest !== undefined && typeof part.text === 'string' && part.text.length > longest) {
    return {
      subcode: 2388040,
      title: 'Character limit exceeded',
      message: `The ${part.type} may have ${longest} characters.`,
    };
  }
  const isFile = part.type === 'HEADER' && ['IMAGE', 'VIDEO', 'DOCUMENT'].includes(String(part.format));
  const sample = object(part.example);
  if (isFile && !Array.isArray(sample?.header_handle)) {
    return {
      subcode: 2388273,
      title: 'Missing sample',
      message: 'A header with a file needs a sample: header_handle.',
    };
  }
  if (part.type === 'FOOTER' && variables(String(part.text)).length > 0) {
    return { subcode: 2388073, title: 'Footer format is incorrect', message: 'The footer must not have variables.' };
  }
  if (part.type === 'HEADER' && variables(String(part.text)).length > 0 && !Array.isArray(sample?.header_text)) {
    return fault('The variable of the header needs an example.');
  }
  return undefined;
}

function checkOffer({ limited_time_offer: offer }: Json): TemplateError | undefined {
  const { text, has_expiration: expires } = object(offer) ?? {};
  return filled(text) && text.length <= 16 && typeof expires === 'boolean'
    ? undefined
    : fault('The offer needs a text of at most 16 characters, and has_expiration.');
}

/** "All cards defined on a template must have the same components." */
function checkCards(cards: readonly Json[]): TemplateError | undefined {
  if (cards.length < 2 || cards.length > 10) return fault('A carousel has 2 to 10 cards.');
  const kinds = cards.map(({ components }) =>
    list(components).map(({ type, format, buttons }) => [type, format, list(buttons).map((button) => button.type)]),
  );
  if (new Set(kinds.map((kind) => JSON.stringify(kind))).size > 1)
    return fault('The cards must have the same components.');
  for (const part of cards.flatMap(({ components }) => list(components))) {
    const problem = checkPart(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkBody(text: string, body: Json): TemplateError | undefined {
  const names = variables(text);
  const examples = object(body.example)?.body_text;
  const given: unknown = Array.isArray(examples) ? examples[0] : undefined;
  if (names.length > 0 && !(Array.isArray(given) && given.length === names.length)) {
    return fault('Each variable of the body needs an example.');
  }
  if (/^\{\{|\}\}$/.test(text.trim())) {
    return {
      subcode: 2388299,
      title: "Variables can't be at the start or end of the template",
      message: 'Add words before the first and behind the last variable.',
    };
  }
  return undefined;
}

function fault(message: string): TemplateError {
  return { subcode: 2388072, title: 'Message template is incorrect', message };
}
