import { type Json, list, object } from './http.ts';
import type { TakenSend } from './options.ts';
import { namesOf, type Person, sharedContact, waIdOf } from './persons.ts';
import { componentOf, type Template } from './templates.ts';

/** What the button is called that asks for the number: its label is fixed. */
const GIVE_NUMBER = 'Share contact info';

interface Pressable {
  readonly label: string;
  /** What the customer's phone sends. `from` and `id` are added later. */
  readonly message: Json;
}

/**
 * The message that a customer sends by pressing a button. It is a button, or a row, of the last message that has some to reply with.
 * A template's quick reply becomes a message of type `button`, a reply button or a row of a list one of type `interactive` (Cloud
 * API, webhooks). If no button has this label, returns the labels that exist.
 */
export function pressed(
  sends: readonly TakenSend[],
  templates: readonly Template[],
  business: string,
  customer: Person,
  label: string,
): { readonly message: Json } | { readonly labels: readonly string[] } {
  const names = namesOf(customer);
  const ofCustomer = sends
    .filter(({ to }) => names.includes(waIdOf(to)))
    .map((send) => pressables(send, templates, business, customer));
  const buttons = ofCustomer.findLast(({ length }) => length > 0) ?? [];
  const button = buttons.find((one) => one.label === label);
  return button === undefined ? { labels: buttons.map((one) => one.label) } : { message: button.message };
}

function pressables(
  { id, body }: TakenSend,
  templates: readonly Template[],
  business: string,
  customer: Person,
): readonly Pressable[] {
  const context = { from: business, id };
  if (object(body.interactive)?.type === 'request_contact_info') {
    const shared = sharedContact(customer);
    return shared === undefined ? [] : [{ label: GIVE_NUMBER, message: { context, ...shared } }];
  }
  const replies = list(object(object(body.interactive)?.action)?.buttons).map(({ reply }) => object(reply) ?? {});
  if (replies.length > 0) {
    return replies.map(({ id: replyId, title }) => {
      const interactive = { type: 'button_reply', button_reply: { id: replyId, title } };
      return { label: String(title), message: { context, type: 'interactive', interactive } };
    });
  }
  const rows = list(object(object(body.interactive)?.action)?.sections).flatMap((section) => list(section.rows));
  if (rows.length > 0) {
    return rows.map(({ id: rowId, title, description }) => {
      const reply = { id: rowId, title, ...(description !== undefined && { description }) };
      return {
        label: String(title),
        message: { context, type: 'interactive', interactive: { type: 'list_reply', list_reply: reply } },
      };
    });
  }
  const sent = object(body.template);
  const language = object(sent?.language)?.code;
  const template = templates.find((one) => one.name === sent?.name && one.language === language);
  const buttons = template === undefined ? [] : (componentOf(template, 'BUTTONS')?.buttons ?? []);
  return buttons.flatMap(({ type, text }, index) => {
    if (type !== 'QUICK_REPLY') return [];
    const given = list(sent?.components).find((one) => one.type === 'button' && Number(one.index) === index);
    const payload = list(given?.parameters)[0]?.payload ?? text;
    return [{ label: text, message: { context, type: 'button', button: { payload, text } } }];
  });
}
