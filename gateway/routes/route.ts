import type { Express } from 'express';
import { requireScope, type ScopeSet } from '../access/scopes.ts';
import type { Parts } from '../api/parts.ts';
import type { Handler, Permission } from '../http/context.ts';

const METHODS = ['get', 'delete', 'patch', 'post', 'put'] as const;

/** The methods of one path, each with its handlers in order. */
type Methods = Readonly<Partial<Record<(typeof METHODS)[number], readonly Handler[]>>>;

/** Registers one path with its methods. All other methods get 405. */
export type On = (path: string, methods: Methods) => void;

/** Registers on `app`; `otherwise` makes the handler of all other methods from the header `Allow`. */
export function registerOn(app: Express, otherwise: (allow: string) => Handler): On {
  return (path, methods) => {
    const route = app.route(path);
    for (const method of METHODS) {
      const handlers = methods[method];
      if (handlers !== undefined) route[method](...handlers);
    }
    route.all(otherwise(allowOf(methods)));
  };
}

/** The value of the header `Allow`. Every path that answers GET also answers HEAD. */
function allowOf(methods: Methods): string {
  return METHODS.filter((method) => methods[method] !== undefined)
    .map((method) => (method === 'get' ? 'GET, HEAD' : method.toUpperCase()))
    .join(', ');
}

/** Every route for keys and users begins with these: who asks, how often, and whether one of these scopes is there. */
export type Key = (...scopes: readonly (Permission | ScopeSet)[]) => readonly Handler[];

export function keyHandlers({ authenticate, rateLimit }: Pick<Parts, 'authenticate' | 'rateLimit'>): Key {
  return (...scopes) => [
    authenticate,
    rateLimit,
    requireScope(...scopes.map((scope) => (typeof scope === 'string' ? [scope] : scope))),
  ];
}
