import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import type { ChatTemplateDocument, TemplateComponents } from '../../../shared/templates/chat/chat-template.ts';
import { describeParam, paramsOf } from '../../../shared/templates/chat/template-params.ts';
import type { ChatTemplateRequestDocument, TemplateDraft } from '../../../shared/templates/chat/template-request.ts';

/** A template as the provider has it, what the account asked for, or both. */
export interface OwnChatTemplate {
  readonly listed?: ChatTemplateDocument | undefined;
  readonly asked?: ChatTemplateRequestDocument | undefined;
}

/**
 * `state` is the provider's status of the template. Until the provider lists it: `requested`, or `rejected` if it refused the
 * request. `deleted`: it had the template and no longer lists it. `change` is what the provider is still to be asked for.
 */
export function chatTemplateRecord({ listed, asked }: OwnChatTemplate): object {
  const { name, language } = listed ?? asked ?? { name: '', language: '' };
  const shown = asked?.wants === 'edit' || listed === undefined ? asked?.draft?.components : undefined;
  const components = listed?.components ?? shown ?? { buttons: [] };
  return {
    name,
    language,
    category: listed?.category ?? asked?.draft?.category ?? '',
    state: stateOf({ listed, asked }),
    reason: (listed === undefined ? asked?.refusal : listed.reason) ?? null,
    quality: listed?.quality ?? null,
    change: asked?.due === undefined ? null : asked.wants,
    change_refused: (listed === undefined ? undefined : asked?.refusal) ?? null,
    submitted_at: asked === undefined ? null : isoTimestamp(asked.requestedAt),
    cannot_be_sent: listed?.unsendable ?? null,
    params: listed === undefined ? [] : paramsOf(listed).map((param) => describeParam(param, listed.components)),
    ...contentOf(components),
    examples: asked?.draft === undefined ? null : examplesOf(asked.draft),
  };
}

export function stateOf({ listed, asked }: OwnChatTemplate): string {
  if (listed !== undefined) return listed.status;
  if (asked !== undefined && isGone(asked)) return 'deleted';
  return asked?.refusal === undefined ? 'requested' : 'rejected';
}

/**
 * For a template that the provider does not list: whether it had it once. A request ends when its template is stored or refused, so
 * one that ended and was not refused had been stored.
 */
function isGone({ wants, due, refusal }: ChatTemplateRequestDocument): boolean {
  return due === undefined && (refusal === undefined || wants !== 'create');
}

function examplesOf({ examples: { headerUrl, ...examples } }: TemplateDraft): object {
  return { ...examples, ...(headerUrl === undefined ? {} : { header_url: headerUrl }) };
}

function contentOf({ header, body, footer, buttons }: TemplateComponents): object {
  return {
    header:
      header === undefined ? null : { format: header.format, text: header.format === 'text' ? header.text : null },
    body: body ?? null,
    footer: footer ?? null,
    buttons: buttons.map(({ type, text, url, phoneNumber }) => ({
      type,
      text,
      url: url ?? null,
      phone_number: phoneNumber ?? null,
    })),
  };
}
