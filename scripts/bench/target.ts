import { postRequest } from './http-lane.ts';

/** Where single sends go, and what they look like there. */
export interface Target {
  /** `http://127.0.0.1:3000` */
  readonly url: string;
  /** The HTTP status of an accepted send. */
  readonly acceptedStatus: number;
  /** The nth send as a whole HTTP request. */
  request(n: number, to: string): string;
}

/** A route of the product. */
export interface ProductTarget extends Target {
  /** Used in rotation. */
  readonly keys: readonly string[];
  readonly route: 'transactional' | 'promotional';
}

export const TEXT = 'Your one-time code for Harkara is 482913. It is valid for ten minutes. Tell it to nobody.';
export const SENDER = 'HARKRA';

export function productTarget(
  url: string,
  keys: readonly string[],
  route: ProductTarget['route'] = 'transactional',
): ProductTarget {
  const headers = keys.map((key) => `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`);
  return {
    url,
    keys,
    route,
    acceptedStatus: 200,
    request: (n, to) => {
      const body = JSON.stringify({ to, message: TEXT, sender: SENDER, route });
      return postRequest('/v2/send', headers[n % headers.length] ?? '', body);
    },
  };
}
