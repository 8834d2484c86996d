import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import {
  type DraftExamples,
  MEDIA_HEADERS,
  type MediaHeader,
  type TemplateButton,
  type TemplateDraft,
  type TemplateHeader,
  variablesIn,
} from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import type { UrlCheck } from '../../http/fields/public-url.ts';
import { extensionProblem } from '../chatapp/fields.ts';
import { type Given, OWN_LABELS } from './draft-fields.ts';
import { noteMarketing } from './marketing-draft.ts';

const URL_BUTTONS_MAX = 2;

/**
 * The template that the fields describe. Adds to `problems` what the provider's review would refuse for its form
 * (WhatsApp, "Template components" and "Template review"), so nobody waits a day for it. Pure.
 */
export function draftOf(given: Given, problems: FieldProblems): TemplateDraft {
  const { category, header, body = '', body_examples: examples, footer, buttons, offer, cards } = given;
  if (category === 'authentication') return codeDraft(given, problems);
  if (given.code !== undefined) problems.add('code', 'conflict', 'Only authentication templates have it.');
  if (given.body === undefined) problems.add('body', 'missing_field', 'It is required.');
  else noteBody(body, examples, problems);
  if (footer !== undefined && variablesIn(footer).length > 0) {
    problems.add('footer', 'invalid_text', 'It must not have variables.');
  }
  noteHeader(header, problems);
  noteButtons(buttons, problems);
  for (const [i, card] of (cards ?? []).entries()) {
    const at = `cards[${i}].`;
    if (card.body !== undefined) noteBody(card.body, card.body_examples, problems, at);
    noteHeader(card.header, problems, at);
    noteButtons(card.buttons, problems, at);
  }
  noteMarketing(given, problems);
  return {
    category,
    components: {
      ...partsOf({ header, body, buttons }),
      ...defined({ footer, offer }),
      ...(cards && { cards: cards.map(partsOf) }),
    },
    examples: {
      ...examplesOf({ header, body_examples: examples, buttons }),
      ...(cards && { cards: cards.map(examplesOf) }),
    },
  };
}

interface Part extends Pick<Given, 'body_examples' | 'buttons'> {
  readonly header: Given['header'];
  readonly body?: string | undefined;
}

function partsOf({ header, body, buttons }: Omit<Part, 'body_examples'>) {
  return {
    ...(header === undefined ? {} : { header: headerOf(header) }),
    ...defined({ body }),
    buttons: buttons.map(buttonOf),
  };
}

function examplesOf({ header, body_examples: body, buttons }: Omit<Part, 'body'>): DraftExamples {
  return {
    ...defined({ header: header?.example, headerUrl: header?.example_url }),
    ...{ body, buttons: buttons.map(({ example }) => example ?? null) },
  };
}

/** An authentication template: WhatsApp writes the texts, so it has only the code. */
function codeDraft(given: Given, problems: FieldProblems): TemplateDraft {
  const { header, body, body_examples: examples, footer, buttons, offer, cards, code: asked } = given;
  const others = { header, body, footer, buttons: buttons[0], body_examples: examples[0], offer, cards };
  for (const [name, value] of Object.entries(others)) {
    if (value !== undefined) problems.add(name, 'conflict', 'Authentication templates have texts of WhatsApp’s own.');
  }
  if (asked === undefined) problems.add('code', 'missing_field', 'Authentication templates need it.');
  const { type = 'copy_code', apps, autofill_text: autofillText, terms_accepted: accepted = false } = asked ?? {};
  if (type === 'copy_code') {
    for (const [name, value] of Object.entries({ apps, autofill_text: autofillText })) {
      if (value !== undefined) problems.add(`code.${name}`, 'conflict', 'A code to copy goes into no app.');
    }
  } else if (apps === undefined) {
    problems.add('code.apps', 'missing_field', `"${type}" needs your Android apps.`);
  }
  if (type === 'zero_tap' && !accepted) {
    problems.add('code.terms_accepted', 'missing_field', 'WhatsApp takes zero_tap only from who accepts its terms.');
  }
  const { security_advice: securityAdvice = true, expires_minutes: expiresMinutes } = asked ?? {};
  const { button_text: buttonText, ttl_seconds: ttlSeconds } = asked ?? {};
  return {
    category: 'authentication',
    components: { buttons: [{ type: 'otp', text: buttonText ?? 'Copy code' }] },
    examples: { body: [], buttons: [null] },
    code: {
      ...{ type, securityAdvice },
      ...defined({ expiresMinutes, buttonText, autofillText, apps, ttlSeconds }),
      ...(type === 'zero_tap' && { termsAccepted: true }),
    },
  };
}

/** `at`: prefix of field names, for a card. */
function noteBody(body: string, examples: readonly string[], problems: FieldProblems, at = ''): void {
  const variables = variablesIn(body);
  const fault = variableFault(body);
  if (fault !== undefined) problems.add(`${at}body`, 'invalid_text', fault);
  if (/^\s*\{\{/.test(body) || /\}\}[\s.,;:!?]*$/.test(body)) {
    problems.add(`${at}body`, 'invalid_text', 'It must not begin or end with a variable.');
  }
  if (/\}\}\s*\{\{/.test(body)) problems.add(`${at}body`, 'invalid_text', 'Variables must not stand side by side.');
  for (const [i, example] of examples.entries()) {
    if (example.trim() === '')
      problems.add(`${at}body_examples[${i}]`, 'too_short', 'Give an example of its variable.');
  }
  if (variables.length !== examples.length) {
    problems.add(
      `${at}body_examples`,
      'wrong_count',
      `The body has ${variables.length} variables: give an example of each.`,
    );
  }
}

function variableFault(text: string): string | undefined {
  const numbers = variablesIn(text);
  const odd = /\{\{(?!\s*\d{1,3}\s*\}\})/.test(text) || numbers.some((number, i) => number !== String(i + 1));
  return odd ? 'Its variables must be {{1}}, {{2}} and so on.' : undefined;
}

function noteHeader(header: Given['header'], problems: FieldProblems, at = ''): void {
  if (header === undefined) return;
  const { format, text, example, example_url: url } = header;
  if (format !== 'text') {
    if (text !== undefined) problems.add(`${at}header.text`, 'conflict', `A header of ${format} has no text.`);
    if (example !== undefined)
      problems.add(`${at}header.example`, 'conflict', `A header of ${format} has no variable.`);
  }
  if (format !== 'text' && format !== 'location' && format !== 'product') {
    noteSample(format, url, problems, at);
    return;
  }
  if (url !== undefined) problems.add(`${at}header.example_url`, 'conflict', `A header of ${format} has no file.`);
  if (format !== 'text') return;
  if (text === undefined) {
    problems.add(`${at}header.text`, 'missing_field', 'A header of text needs it.');
    return;
  }
  const variables = variablesIn(text);
  const fault = variableFault(text);
  if (fault !== undefined) problems.add(`${at}header.text`, 'invalid_text', fault);
  if (variables.length > 1) problems.add(`${at}header.text`, 'wrong_count', 'It may have one variable.');
  if (variables.length > 0 && example === undefined) {
    problems.add(`${at}header.example`, 'missing_field', 'Give an example of its variable.');
  }
}

function noteSample(format: MediaHeader, url: string | undefined, problems: FieldProblems, at: string): void {
  if (url === undefined) {
    problems.add(
      `${at}header.example_url`,
      'missing_field',
      `Give the https address of a sample ${format}, for the review.`,
    );
    return;
  }
  const extension = extensionProblem(format, url);
  if (extension !== undefined) problems.add(`${at}header.example_url`, 'unsupported_media_type', extension);
}

function noteButtons(buttons: Given['buttons'], problems: FieldProblems, at = ''): void {
  for (const [i, { type, text, url, phone_number: phone, example }] of buttons.entries()) {
    const field = `${at}buttons[${i}]`;
    const needs = (member: string, value: string | undefined, for_: boolean): void => {
      if (for_ && value === undefined)
        problems.add(`${field}.${member}`, 'missing_field', `A ${type} button needs it.`);
      if (!for_ && value !== undefined) problems.add(`${field}.${member}`, 'conflict', `A ${type} button has none.`);
    };
    needs('text', text, !(type in OWN_LABELS));
    needs('url', url, type === 'url');
    needs('phone_number', phone, type === 'phone_number');
    needs('example', example, type === 'copy_code' || (type === 'url' && variablesIn(url ?? '').length > 0));
    if (type === 'url' && url !== undefined) noteUrl(url, `${field}.url`, problems);
  }
  noteCounts(
    buttons.map(({ type }) => type),
    problems,
    `${at}buttons`,
  );
}

function noteUrl(url: string, field: string, problems: FieldProblems): void {
  if (!/^https?:\/\/[^\s{}]+(\{\{1\}\})?$/.test(url)) {
    problems.add(field, 'invalid_value', 'It must be an http or https address, with at most {{1}} at its end.');
  }
}

function noteCounts(types: readonly string[], problems: FieldProblems, field: string): void {
  const count = (type: string): number => types.filter((one) => one === type).length;
  if (count('url') > URL_BUTTONS_MAX) problems.add(field, 'wrong_count', 'At most two may be url buttons.');
  for (const type of ['phone_number', 'copy_code']) {
    if (count(type) > 1) problems.add(field, 'wrong_count', `At most one may be a ${type} button.`);
  }
  // Counts changes between quick replies and other buttons. At most one: quick replies come all first or all last.
  const runs = types.filter((type, i) => (type === 'quick_reply') !== (types[i - 1] === 'quick_reply') && i > 0).length;
  if (runs > 1) problems.add(field, 'conflict', 'Quick replies must stand together.');
}

function headerOf({ format, text = '' }: NonNullable<Given['header']>): TemplateHeader {
  return format === 'text' ? { format, text } : { format };
}

function buttonOf({
  type,
  text = OWN_LABELS[type] ?? '',
  url,
  phone_number: phoneNumber,
}: Given['buttons'][number]): TemplateButton {
  return {
    ...{ type, text },
    ...defined({ url, phoneNumber }),
  };
}

interface Sample {
  readonly format: MediaHeader;
  readonly url: string;
  readonly field: string;
}

function samplesOf({ components, examples }: TemplateDraft): readonly Sample[] {
  const { cards = [] } = components;
  const all = [
    { header: components.header, url: examples.headerUrl, field: 'header' },
    ...cards.map(({ header }, i) => ({
      ...{ header, url: examples.cards?.[i]?.headerUrl, field: `cards[${i}].header` },
    })),
  ];
  return all.flatMap(({ header, url, field }) => {
    const format = MEDIA_HEADERS.find((one) => one === header?.format);
    return format === undefined || url === undefined ? [] : [{ format, url, field }];
  });
}

/** Whether the provider takes these header samples, and we may fetch them, by the rules for webhooks' URLs. */
export async function checkSamples(
  account: AccountId,
  draft: TemplateDraft,
  provider: Pick<ProviderDocument, 'appId'> | undefined,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): Promise<void> {
  const samples = samplesOf(draft);
  const [first] = samples;
  if (first === undefined) return;
  if (provider !== undefined && provider.appId === undefined) {
    problems.add(
      `${first.field}.format`,
      'invalid_value',
      `A template with a header of ${first.format} needs the id of the provider’s app, which is not set. Ask your service provider to set it (\`provider set --app-id\`), or ask for the template in the provider’s console; when it is approved, it is listed here and can be sent.`,
    );
    return;
  }
  for (const { url, field } of samples) {
    const name = `${field}.example_url`;
    if (urlCheck.form(account, url, name, problems)) await urlCheck.host(account, url, name, problems);
  }
}
