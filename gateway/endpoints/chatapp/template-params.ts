import type {
  ChatTemplateDocument,
  MediaHeader,
  TemplateButton,
  TemplateComponents,
} from '../../../shared/templates/chat/chat-template.ts';
import { variablesIn } from '../../../shared/templates/chat/variables.ts';

/** The place that one entry of `params` fills. Buttons are counted from 0, as the provider does. */
export type TemplateParam =
  | { readonly fills: 'header'; readonly variable: string }
  /** The entry is the address of a file. */
  | { readonly fills: 'media'; readonly format: MediaHeader }
  | { readonly fills: 'body'; readonly variable: string }
  | { readonly fills: 'url'; readonly button: number; readonly variable: string }
  | { readonly fills: 'coupon'; readonly button: number }
  /** A one-time password is in the body and in its button. It is given once and sent in both places. */
  | { readonly fills: 'otp'; readonly button: number; readonly variable: string };

type Template = Pick<ChatTemplateDocument, 'components'>;

/**
 * The entries of `params` that a template takes, in the order of the template: header, body, buttons. The footer, quick replies
 * and phone numbers take none. A location and products take none either, because they have no single value. Each card of a carousel has
 * `params` of its own. Pure.
 */
export function paramsOf({ components }: Template): readonly TemplateParam[] {
  const body = variablesIn(components.body ?? '');
  const code = codeIn(components);
  const params: readonly TemplateParam[] = [
    ...headerParams(components),
    ...(code === undefined ? body.map((variable) => ({ fills: 'body', variable }) as const) : [code]),
  ];
  const inButtons = components.buttons.flatMap((button, index) => {
    return index === code?.button ? [] : buttonParams(button, index);
  });
  return [...params, ...inButtons];
}

function headerParams({ header }: TemplateComponents): readonly TemplateParam[] {
  if (header === undefined || header.format === 'location' || header.format === 'product') return [];
  if (header.format !== 'text') return [{ fills: 'media', format: header.format }];
  return variablesIn(header.text).map((variable) => ({ fills: 'header', variable }));
}

/**
 * Authentication templates have one variable in the body, and one button with the same code (WhatsApp, "Authentication
 * templates").
 */
function codeIn({ body = '', buttons }: TemplateComponents): Extract<TemplateParam, { fills: 'otp' }> | undefined {
  const [variable, more] = variablesIn(body);
  const button = buttons.findIndex(({ type }) => type === 'otp');
  return variable === undefined || more !== undefined || button === -1 ? undefined : { fills: 'otp', button, variable };
}

function buttonParams({ type, url = '' }: TemplateButton, button: number): readonly TemplateParam[] {
  if (type === 'copy_code') return [{ fills: 'coupon', button }];
  // The address behind a one-time password may be hidden. The button still has a variable.
  const variables = type === 'otp' && url === '' ? ['1'] : variablesIn(url);
  return variables.map((variable) => ({ fills: 'url', button, variable }));
}

/** Describes a place of `params` for people, such as `the url suffix of button 1 ("Track")`. Pure. */
export function describeParam(param: TemplateParam, components: TemplateComponents): string {
  const label = (index: number): string => {
    const text = components.buttons[index]?.text ?? '';
    return text === '' ? `button ${index}` : `button ${index} ("${text}")`;
  };
  switch (param.fills) {
    case 'header':
      return `header {{${param.variable}}}`;
    case 'media':
      return `the https address of the ${param.format} in the header`;
    case 'body':
      return `body {{${param.variable}}}`;
    case 'url':
      return `the url suffix of ${label(param.button)}`;
    case 'coupon':
      return `the code that ${label(param.button)} copies`;
    case 'otp':
      return `the one-time password, for body {{${param.variable}}} and ${label(param.button)}`;
  }
}
