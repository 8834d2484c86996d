import type { Gateway } from './endpoint.ts';

/** What the endpoints of a subject share in a process, such as a cache: made at its first use, once for each gateway. */
export function perProcess<Shared>(make: (gateway: Gateway) => Shared): (gateway: Gateway) => Shared {
  const made = new WeakMap<Gateway, Shared>();
  return (gateway) => {
    const known = made.get(gateway);
    if (known !== undefined) return known;
    const shared = make(gateway);
    made.set(gateway, shared);
    return shared;
  };
}
