import type { KeyObject } from 'node:crypto';
import type { AccountId, EndpointId } from '../../../platform/runtime/ids.ts';
import { errorFields, type Log } from '../../../platform/runtime/log.ts';
import type { SecretBox } from '../../../platform/runtime/secret-box.ts';
import { type AddressGuard, literalAddress } from '../address-guard.ts';
import { type EndpointDocument, RETRY_SECONDS, retrySecondsOf } from '../endpoint.ts';
import { headerPlace } from '../endpoint-store.ts';
import { secretKey } from '../sign.ts';

/** An endpoint prepared for posting: its URL is parsed and its secrets are decrypted. Never kept for longer than seconds. */
export interface PostTarget {
  readonly id: EndpointId;
  /** Absent: the endpoint has gone. */
  readonly account?: AccountId;
  /** The part of the URL that may be logged. */
  readonly host: string;
  /** The host without its port. IPv6 addresses have no brackets. */
  readonly hostname: string;
  readonly origin: string;
  readonly path: string;
  readonly keys: readonly { readonly key: KeyObject; readonly expiresAt?: Date }[];
  /** The account's own headers: names and values in turn. */
  readonly headers: readonly string[];
  /** The pauses between the tries. */
  readonly retrySeconds: readonly number[];
  /** As in `EndpointOptions`. */
  readonly eventsPerPost: number;
  readonly gatherMs: number;
  /** Why nothing can be posted (`refused_url`, `no_secret`, `no_header`). */
  readonly problem?: string;
}

export interface TargetDeps {
  readonly guard: AddressGuard;
  readonly box: SecretBox;
  readonly log: Pick<Log, 'error'>;
}

export function openTarget(endpoint: EndpointDocument, { guard, box, log }: TargetDeps): PostTarget {
  const { _id: id, account, url: text, eventsPerPost = 1, gatherMs = 0 } = endpoint;
  if (!guard.checkForm(text).ok) return { ...noTarget(id), problem: 'refused_url' };
  const url = new URL(text);
  const hostname = literalAddress(url.hostname) ?? url.hostname;
  const target: PostTarget = {
    ...noTarget(id),
    ...{ account, host: url.host, hostname, origin: url.origin, path: url.pathname + url.search },
    ...{ retrySeconds: retrySecondsOf(endpoint), eventsPerPost, gatherMs },
  };
  const { keys, errors } = openSecrets(endpoint, box);
  if (!keys.some(({ expiresAt }) => expiresAt === undefined)) {
    log.error('secret_unreadable', { endpoint: id, ...errorFields(errors[0]) });
    return { ...target, problem: 'no_secret' };
  }
  try {
    return { ...target, keys, headers: openHeaders(endpoint, box) };
  } catch (error) {
    log.error('header_unreadable', { endpoint: id, ...errorFields(error) });
    return { ...target, problem: 'no_header' };
  }
}

function openHeaders({ _id, headers = [] }: EndpointDocument, box: SecretBox): readonly string[] {
  return headers.flatMap((header) => [
    header.name,
    'value' in header ? header.value : box.open(header.sealed, headerPlace(_id)),
  ]);
}

/**
 * The keys of the secrets that can be opened, and why the others cannot. Old ones are left out, so that a rotation helps when the
 * secret key is lost. Only the newest has no `expiresAt`: without it nothing can be signed for long.
 */
function openSecrets(
  { _id, secrets }: Pick<EndpointDocument, '_id' | 'secrets'>,
  box: SecretBox,
): Pick<PostTarget, 'keys'> & { readonly errors: readonly unknown[] } {
  const errors: unknown[] = [];
  const keys = secrets.flatMap(({ sealed, expiresAt }) => {
    try {
      return [
        {
          key: secretKey(box.open(sealed, ['endpoints', _id, 'secrets.sealed'])),
          ...(expiresAt === undefined ? {} : { expiresAt }),
        },
      ];
    } catch (error) {
      errors.push(error);
      return [];
    }
  });
  return { keys, errors };
}

/** For an endpoint that leads nowhere. */
export function noTarget(id: EndpointId): PostTarget {
  const address = { host: '', hostname: '', origin: '', path: '' };
  return { id, ...address, keys: [], headers: [], retrySeconds: RETRY_SECONDS, eventsPerPost: 1, gatherMs: 0 };
}
