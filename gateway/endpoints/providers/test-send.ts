import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { isCustomerUserId } from '../../../shared/messages/document/recipient.ts';
import { endpoint, type Gateway, refused, type Shown } from '../../api/endpoint.ts';
import { flag, named, text } from '../../api/shapes.ts';
import { changeAudited } from '../../http/audited.ts';
import { list, required, string, withDefault } from '../../http/fields/field.ts';
import { request } from '../../http/fields/request.ts';
import { matching } from '../operators/fields.ts';
import { customer } from '../opt-ins/customer.ts';
import { postToProvider, providerPoster, readProviderAnswer } from './post-to-provider.ts';
import { NUMBER_IN_PATH, numberAsked } from './providers.ts';

const ProviderTest = named('ProviderTest', {
  ok: flag('The provider took the message.', true),
  words: text(undefined, { example: 'The provider took it: wamid.HBgM…' }),
});

export const testProvider = endpoint({
  id: 'testProvider',
  method: 'post',
  path: '/v2/admin/providers/{number}/test',
  tag: 'Operators',
  summary: 'Send a test over a chat-app number',
  description:
    'Extension. One template message goes to the provider as it is, with the stored token. It is charged to nobody here and stands in no list; the provider may bill it. What becomes of it, the phone shows.',
  scopes: ['admin:routing'],
  confirmed: true,
  costs: 10,
  params: NUMBER_IN_PATH,
  body: request({
    to: required(customer('Your own number, or user id.')),
    template: withDefault(
      matching('Name of an approved template.', /^[a-z0-9_]{1,512}$/, 'a-z, 0-9 and _'),
      'hello_world',
    ),
    language: withDefault(matching('Its language.', /^[a-zA-Z_]{2,10}$/, 'a code like en_US'), 'en_US'),
    params: withDefault(
      list(
        string({ description: 'A value.', minLength: 1, maxLength: 1_024 }, (value) => value),
        { description: 'The values of its text, in their order.', maxItems: 50 },
      ),
      [],
    ),
  }),
  answer: ProviderTest,
  problems: ['provider_not_found'],
  examples: { body: { example: { to: '919876543210', template: 'hello_world', language: 'en_US' } } },
  async handle(deps, { requester, params: { number }, body }) {
    const provider = await numberAsked(deps.db, number);
    if (provider === undefined) return refused('provider_not_found');
    return changeAudited(deps, requester, {
      action: 'provider.test',
      subject: { kind: 'provider', id: number },
      account: provider.account,
      read: async () => undefined,
      make: () => send(deps, provider, body),
      madeOf: ({ ok }) => ({ ok, template: body.template }),
      isRefusal: () => false,
    });
  },
});

interface Test {
  readonly to: string;
  readonly template: string;
  readonly language: string;
  readonly params: readonly string[];
}

/** As the Cloud API documents it ("Template messages"). */
async function send(
  deps: Gateway,
  provider: ProviderDocument,
  { to, template, language, params }: Test,
): Promise<Shown<typeof ProviderTest>> {
  const components = [{ type: 'body', parameters: params.map((value) => ({ type: 'text', text: value })) }];
  const message = {
    ...{ messaging_product: 'whatsapp', recipient_type: 'individual', type: 'template' },
    ...(isCustomerUserId(to) ? { recipient: to } : { to: `+${to}` }),
    template: { name: template, language: { code: language }, ...(params.length > 0 && { components }) },
  };
  const poster = providerPoster(deps, provider.timeoutMs);
  const answer = readProviderAnswer(
    await postToProvider(poster, deps, provider, message).finally(() => poster.close()),
  );
  if (!answer.ok) return { ok: false, words: answer.words };
  if (answer.id === undefined) return { ok: false, words: 'The provider answered without the id of a message.' };
  return { ok: true, words: `The provider took it: ${answer.id}` };
}
