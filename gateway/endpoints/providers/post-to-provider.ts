import { graphErrorOf, objectOf, parseObject } from '../../../shared/carriers/providers/graph-error.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { AddressGuard } from '../../../shared/events/webhooks/address-guard.ts';
import { Poster, type PostResult } from '../../../shared/events/webhooks/post.ts';
import type { Gateway } from '../../api/endpoint.ts';

/** Posts to a provider that bypass the queue: free of charge, and worthless later. */

/** The operator has chosen the base URLs, so they may lead anywhere. */
export function providerPoster(
  { clock, resolveHost }: Pick<Gateway, 'clock' | 'resolveHost'>,
  timeoutMs: number,
): Poster {
  const allowSubnets = ['0.0.0.0/0', '::/0'];
  return new Poster({
    guard: new AddressGuard({ allowHttp: true, allowSubnets, resolve: resolveHost }),
    ...{ clock, timeoutMs },
  });
}

/** Posts to `/{phone_number_id}/messages` (Cloud API, "Messages"). Rejects only if the token cannot be decrypted. */
export async function postToProvider(
  poster: Poster,
  { box }: Pick<Gateway, 'box'>,
  { _id, baseUrl, phoneNumberId, token }: ProviderDocument,
  message: object,
): Promise<PostResult> {
  const { origin, pathname } = new URL(`${baseUrl}/${phoneNumberId}/messages`);
  const authorization = `Bearer ${box.open(token, ['providers', _id, 'token'])}`;
  const headers = ['content-type', 'application/json', 'accept', 'application/json', 'authorization', authorization];
  return poster.post({ origin, path: pathname, headers, body: Buffer.from(JSON.stringify(message)) }, 'all');
}

/** `id`: of the accepted message. `words`: why it was refused. */
type ProviderAnswer =
  | { readonly ok: true; readonly id: string | undefined }
  | { readonly ok: false; readonly words: string; readonly status: number | undefined };

export function readProviderAnswer({ result, excerpt = '' }: PostResult): ProviderAnswer {
  if (typeof result === 'string') {
    return { ok: false, words: `The provider did not answer: ${result}.`, status: undefined };
  }
  const answer = parseObject(Buffer.from(excerpt));
  const [message] = Array.isArray(answer?.messages) ? answer.messages : [];
  const id = objectOf(message)?.id;
  if (result < 300) return { ok: true, id: typeof id === 'string' ? id : undefined };
  const error = graphErrorOf(answer);
  const why = error === undefined ? '' : `: (${error.code}) ${error.text}`;
  return { ok: false, words: `The provider answered ${result}${why}`, status: result };
}
