import request from 'supertest';
import type { AuditDocument } from '../../../shared/people/audit.ts';
import { type AccountGateway, accountAtGateway } from '../../support/account-gateway.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';

type Body = Readonly<Record<string, unknown>>;

export interface OperatorWorld extends AccountGateway {
  readonly operator: Browser;
  get(path: string): request.Test;
  delete(path: string): request.Test;
  post(path: string, body: Body): request.Test;
  patch(path: string, body: Body): request.Test;
  put(path: string, body: Body): request.Test;
  /** The newest entry of the audit. */
  lastAudit(): Promise<AuditDocument>;
}

/** For the body of a `describe`; use the result in hooks and tests only. Paths are below /v2/admin. */
export function operatorAtGateway(credits: number): OperatorWorld {
  const inner = accountAtGateway(credits);
  let operator: Browser | undefined;
  before(async () => {
    operator = await signedIn(inner.db, 'operator');
  });
  const headers = () => operator?.headers ?? {};
  const url = (path: string) => `/v2/admin${path}`;
  return Object.create(inner, {
    operator: { get: () => operator },
    get: { value: (path: string) => request(inner.url).get(url(path)).set(headers()) },
    delete: { value: (path: string) => request(inner.url).delete(url(path)).set(headers()) },
    post: { value: (path: string, body: Body) => request(inner.url).post(url(path)).set(headers()).send(body) },
    patch: { value: (path: string, body: Body) => request(inner.url).patch(url(path)).set(headers()).send(body) },
    put: { value: (path: string, body: Body) => request(inner.url).put(url(path)).set(headers()).send(body) },
    lastAudit: {
      value: async () => {
        const [entry] = await inner.db
          .collection<AuditDocument>('audit')
          .find()
          .sort({ at: -1, _id: -1 })
          .limit(1)
          .toArray();
        expect(entry).not.to.equal(undefined);
        return entry;
      },
    },
  });
}
