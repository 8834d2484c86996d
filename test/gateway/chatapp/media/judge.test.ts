import { expect } from 'chai';
import {
  FILE_BYTES_MAX,
  judgeFile,
  judgeLookUp,
  judgeNumber,
} from '../../../../gateway/endpoints/chatapp/media/judge.ts';

const error = (code: number, more: object = {}) => ({ error: { code, message: 'words', ...more } });
const look = (status: number, body: object | string, retryAfter?: string) =>
  judgeLookUp(status, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), retryAfter);

describe('what the provider says of a file', () => {
  it('where it is; its length may be a string', () => {
    const url = 'https://lookaside.example.com/a?hash=1';
    expect(look(200, { url, mime_type: 'image/jpeg', sha256: 'x', file_size: '303833', id: '1' })).to.deep.equal({
      ...{ kind: 'located', url, mime: 'image/jpeg', bytes: 303_833 },
    });
    for (const size of [-1, 1.5, '', '1e3', null, 2 ** 60]) {
      expect(look(200, { url, file_size: size })).to.deep.equal({
        kind: 'located',
        url,
        mime: undefined,
        bytes: undefined,
      });
    }
  });

  it('how large it is: too large is known before it is asked for', () => {
    const url = 'https://lookaside.example.com/a';
    expect(look(200, { url, file_size: FILE_BYTES_MAX })).to.include({ kind: 'located' });
    expect(look(200, { url, file_size: FILE_BYTES_MAX + 1 })).to.deep.equal({ kind: 'unusable', code: 'too_large' });
  });

  it('that it is gone, refused, or may come later', () => {
    const cases = [
      [400, error(100, { error_subcode: 33, type: 'GraphMethodException' }), 'gone', 'provider_100'],
      [400, error(131_052), 'gone', 'provider_131052'],
      [400, error(100, { type: 'GraphMethodException' }), 'refused', 'invalid_parameter'],
      [401, error(190), 'refused', 'provider_token_refused'],
      [403, error(10), 'refused', 'provider_permission_missing'],
      [403, error(999_999), 'refused', 'provider_access_denied'],
      [400, error(999_999), 'refused', 'http_400'],
      [404, '<html>', 'refused', 'http_404'],
      [302, '', 'refused', 'http_302'],
      [401, '', 'refused', 'provider_access_denied'],
      [400, error(130_429), 'later', 'provider_throttled'],
      [500, error(131_000), 'later', 'provider_unavailable'],
      [400, error(1), 'later', 'http_400'],
      [400, error(999_999, { is_transient: true }), 'later', 'http_400'],
      [503, '<html>', 'later', 'http_503'],
      [429, '', 'later', 'http_429'],
      [200, '{"url":', 'later', 'unreadable_answer'],
    ] as const;
    for (const [status, body, kind, code] of cases) {
      expect(look(status, body), JSON.stringify(body)).to.deep.equal({ kind, code });
    }
  });

  it('that it has gone, unless the number is not to be seen either', () => {
    const told = (status: number, body: object) => judgeNumber(status, Buffer.from(JSON.stringify(body))).kind;
    expect(told(400, error(100, { error_subcode: 33, type: 'GraphMethodException' }))).to.equal('refused');
    expect(told(200, { id: '1055' })).to.equal('gone');
    expect(told(403, error(10)), 'a token that may only send and receive').to.equal('gone');
    expect(told(429, {})).to.equal('later');
    expect(told(404, {}), 'an API without that address').to.equal('gone');
  });

  it('how long to wait, within bounds', () => {
    expect(look(429, '', '9')).to.deep.include({ retryAfterS: 9 });
    expect(look(429, '', '99999')).to.deep.include({ retryAfterS: 300 });
    for (const odd of ['0', '-1', 'Fri, 31 Dec 1999 23:59:59 GMT'])
      expect(look(429, '', odd)).to.not.have.property('retryAfterS');
  });

  it('whether its bytes may be handed on', () => {
    const cases = [
      [200, {}, 7, undefined],
      [200, { length: '7' }, undefined, undefined],
      [200, { length: '7', coding: 'identity' }, 7, undefined],
      [200, { length: '8' }, 7, 'later wrong_length'],
      [200, { coding: 'gzip' }, 7, 'unusable content_coding'],
      [200, { length: String(FILE_BYTES_MAX + 1) }, undefined, 'unusable too_large'],
      [206, { length: '7' }, 7, 'unusable file_http_206'],
      [302, {}, 7, 'unusable redirect'],
      [400, {}, 7, 'unusable file_http_400'],
      [401, {}, 7, 'refused provider_access_denied'],
      [404, {}, 7, 'gone file_http_404'],
      [410, {}, 7, 'gone file_http_410'],
      [500, {}, 7, 'later file_http_500'],
    ] as const;
    for (const [status, said, promised, wanted] of cases) {
      const why = judgeFile(status, said, promised);
      expect(why && `${why.kind} ${why.code}`, `${status} ${JSON.stringify(said)}`).to.equal(wanted);
    }
  });
});
