import type { ProblemSlug } from '../../../gateway/http/problem.ts';
import { makeKey, useGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { expectProblem } from '../../support/problem.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { useStore } from '../../support/store.ts';

describe('what is not HTTP', () => {
  const store = useStore();
  const gateway = useGateway(store);

  const rows: readonly [string, string, ProblemSlug][] = [
    ['garbage', 'hello\r\n\r\n', 'malformed_request'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'malformed_request'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 'malformed_request'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n', 'malformed_request'],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 'malformed_request'],
    [
      'two lengths',
      'POST /v2/send HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      'malformed_request',
    ],
    [
      'length and chunks (request smuggling)',
      'POST /v2/send HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'malformed_request',
    ],
    ['40 KB of headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 'headers_too_large'],
  ];
  for (const [what, bytes, slug] of rows) {
    it(`${slug}: ${what}`, async () => {
      const answer = await rawRequest(gateway.port, [bytes]);

      expectProblem({ ...answer, body: JSON.parse(answer.body) }, slug);
      expect(answer.headers.connection).to.equal('close');
    });
  }

  it('malformed_request: a broken chunk in the middle of a body', async () => {
    const key = await makeKey(store.db, await makeAccount(store.db, 1));

    const answer = await rawRequest(gateway.port, [
      `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        'Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\nzzz\r\n',
    ]);

    expectProblem({ ...answer, body: JSON.parse(answer.body) }, 'malformed_request');
  });

  it('finishes the answer to an earlier request of the connection before it closes', async () => {
    const account = await makeAccount(store.db, 1);
    const key = await makeKey(store.db, account);
    const body = '{"to":"919876543210","message":"x","sender":"HARKRA"}';

    const answer = await rawRequest(gateway.port, [
      `POST /v2/send HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}NONSENSE\r\n\r\n`,
    ]);

    expect(answer.status).to.equal(200);
    expect(answer.bytes.match(/HTTP\/1\.1 /g)).to.have.length(1);
  });

  it('answers HTTP/1.0 without Host', async () => {
    const answer = await rawRequest(gateway.port, ['GET /healthz HTTP/1.0\r\n\r\n']);

    expect(answer.status).to.equal(200);
  });

  it('answers two requests sent at once in their order', async () => {
    const answer = await rawRequest(gateway.port, [
      'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ]);

    const statuses = [...answer.bytes.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
    expect(statuses).to.deep.equal(['200', '404']);
  });
});
