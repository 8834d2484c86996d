import type { Exchange } from '../../../../shared/carriers/http/client.ts';
import { judgeSend, type SendVerdict } from '../../../../workers/chatapp/provider/answer.ts';
import { graphError } from '../provider-server.ts';

function answered(status: number, body: object | string, retryAfterMs?: number): Exchange {
  return {
    kind: 'answered',
    status,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The documented error codes of the Cloud API, what is done about each, and our code for it. */
const CODES: readonly (readonly [codes: readonly number[], kind: SendVerdict['kind'], code: string])[] = [
  [[0, 190], 'stop', 'provider_token_refused'],
  [[3, 10, 200, 299], 'stop', 'provider_permission_missing'],
  [[4, 80_007, 130_429], 'back_off', 'provider_throttled'],
  [[131_056], 'customer_delay', 'customer_rate_limited'],
  [[131_048], 'refuse', 'spam_rate_limited'],
  [[131_064], 'refuse', 'category_limit_reached'],
  [[131_049], 'refuse', 'marketing_limit_reached'],
  [[130_472], 'refuse', 'customer_in_experiment'],
  [[131_000, 131_016], 'retry', 'provider_unavailable'],
  [[131_005], 'stop', 'provider_access_denied'],
  [[131_031], 'stop', 'provider_account_locked'],
  [[131_042], 'stop', 'provider_payment_problem'],
  [[131_045], 'stop', 'provider_certificate_problem'],
  [[133_010, 133_016], 'stop', 'provider_number_not_registered'],
  [[33], 'stop', 'provider_number_deleted'],
  [[131_037], 'stop', 'provider_name_not_approved'],
  [[368], 'stop', 'provider_policy_block'],
  [[100, 131_008, 131_009], 'refuse', 'invalid_parameter'],
  [[130_403], 'refuse', 'customer_blocked'],
  [[130_497], 'refuse', 'country_not_allowed'],
  [[131_062], 'refuse', 'number_needed'],
  [[131_021], 'refuse', 'recipient_is_sender'],
  [[131_026], 'refuse', 'undeliverable'],
  [[131_047], 'refuse', 'session_closed'],
  [[131_051], 'refuse', 'unsupported_message_type'],
  [[131_053], 'retry_once', 'media_unavailable'],
  [[132_000], 'refuse', 'template_param_count_mismatch'],
  [[132_001], 'refuse', 'template_not_found'],
  [[132_005], 'refuse', 'template_text_too_long'],
  [[132_007], 'refuse', 'template_policy_violated'],
  [[132_008, 132_012, 132_018], 'refuse', 'template_param_mismatch'],
  [[132_068, 132_069], 'refuse', 'template_flow_unavailable'],
  [[131_050], 'refuse', 'marketing_opted_out'],
  [[131_055, 131_063, 134_100, 134_102], 'refuse', 'marketing_not_enabled'],
  [[134_101], 'retry_later', 'template_not_ready'],
  [[132_015], 'refuse', 'template_paused'],
  [[132_016], 'refuse', 'template_disabled'],
];

describe('judgeSend', () => {
  it('an accepted message has the id that statuses will name', () => {
    const body = {
      messaging_product: 'whatsapp',
      contacts: [],
      messages: [{ id: 'wamid.A', message_status: 'accepted' }],
    };

    expect(judgeSend(answered(200, body))).to.deep.equal({ kind: 'accepted', upstreamId: 'wamid.A' });
  });

  it('an accepted message names the customer as the provider knows it, if the answer says a number', () => {
    const customerOf = (contacts: unknown) => {
      const verdict = judgeSend(answered(200, { contacts, messages: [{ id: 'wamid.A' }] }));
      return verdict.kind === 'accepted' ? verdict.customer : verdict.kind;
    };

    expect(customerOf([{ input: '+5531987654321', wa_id: '553187654321' }])).to.equal('553187654321');
    for (const none of [
      undefined,
      {},
      [],
      [null],
      [{ user_id: 'BR.1' }],
      [{ wa_id: 553187654321 }],
      [{ wa_id: '0' }],
    ]) {
      expect(customerOf(none), JSON.stringify(none)).to.equal(undefined);
    }
  });

  it('a message that is held for a quality check is accepted too', () => {
    const body = { messages: [{ id: 'wamid.A', message_status: 'held_for_quality_assessment' }] };

    expect(judgeSend(answered(200, body)).kind).to.equal('accepted');
  });

  for (const [codes, kind, code] of CODES) {
    for (const upstream of codes) {
      it(`${upstream}: ${kind} (${code}), whatever the HTTP status`, () => {
        for (const status of [400, 403, 429, 500]) {
          expect(judgeSend(answered(status, graphError(upstream)))).to.include({
            kind,
            code,
            reason: `(${upstream}) in detail`,
          });
        }
      });
    }
  }

  it('a paused and a disabled template say so', () => {
    expect(judgeSend(answered(400, graphError(132_015)))).to.include({ template: 'paused' });
    expect(judgeSend(answered(400, graphError(132_016)))).to.include({ template: 'disabled' });
  });

  const OTHERS: readonly (readonly [what: string, exchange: Exchange, verdict: object])[] = [
    ['an unknown code is refused', answered(400, graphError(777)), { kind: 'refuse', code: 'provider_refused' }],
    [
      'a wrong number id, or a token without access to it, stops the channel',
      answered(400, graphError(100, 'Unsupported post request', { error_subcode: 33 })),
      { kind: 'stop', code: 'provider_access_denied', reason: '(100) Unsupported post request' },
    ],
    [
      'a missing appsecret_proof stops the channel',
      answered(400, graphError(100, 'in detail', { type: 'GraphMethodException' })),
      { kind: 'stop', code: 'provider_access_denied' },
    ],
    [
      'code 1, perhaps a fault of the provider, is tried once more',
      answered(400, graphError(1)),
      { kind: 'retry_once', code: 'provider_refused' },
    ],
    ['code 1 with a 5xx is tried again', answered(500, graphError(1)), { kind: 'retry', code: 'provider_unavailable' }],
    [
      'an unknown code that calls itself transient is tried again',
      answered(400, graphError(777, 'x', { is_transient: true })),
      { kind: 'retry' },
    ],
    ['an unknown code with a 5xx is tried again', answered(500, graphError(777)), { kind: 'retry' }],
    ['an unknown code with a 401 stops the channel', answered(401, graphError(777)), { kind: 'stop' }],
    [
      'an unknown code with a 403 is refused, and told',
      answered(403, graphError(777)),
      { kind: 'refuse', code: 'provider_refused', forbids: 777 },
    ],
    ['an unknown code with a 429 slows down', answered(429, graphError(777)), { kind: 'back_off' }],
    [
      'a bare 429 slows down for as long as it says',
      answered(429, '', 7_000),
      { kind: 'back_off', retryAfterMs: 7_000 },
    ],
    ['a bare 503 is tried again', answered(503, '<html>'), { kind: 'retry', code: 'provider_unavailable' }],
    ['a bare 500 is tried again', answered(500, ''), { kind: 'retry' }],
    ['a 502 was passed on: nobody knows', answered(502, '<html>'), { kind: 'unknown', code: 'http_502' }],
    ['a 504 was passed on: nobody knows', answered(504, ''), { kind: 'unknown', code: 'http_504' }],
    ['a bare 401 stops the channel', answered(401, ''), { kind: 'stop', code: 'provider_access_denied' }],
    [
      'a 404 stops the channel: the address is wrong',
      answered(404, ''),
      { kind: 'stop', code: 'provider_address_wrong' },
    ],
    ['a redirect stops the channel', answered(302, ''), { kind: 'stop', code: 'provider_address_wrong' }],
    ['a bare 400 is refused', answered(400, 'no'), { kind: 'refuse', reason: 'The provider answered HTTP 400' }],
    ['a 200 that is no JSON is unknown', answered(200, 'OK'), { kind: 'unknown', code: 'unreadable_answer' }],
    ['a 200 without an id is unknown', answered(200, { messages: [{}] }), { kind: 'unknown' }],
    [
      'a 200 with an id beyond all measure is unknown',
      answered(200, { messages: [{ id: 'x'.repeat(600) }] }),
      { kind: 'unknown' },
    ],
    ['a 200 with messages of another kind is unknown', answered(200, { messages: 'x' }), { kind: 'unknown' }],
    ['an error that is no object is judged by the status', answered(400, { error: 'x' }), { kind: 'refuse' }],
    ['JSON null is judged by the status', answered(503, 'null'), { kind: 'retry' }],
    ['no connection: nothing was sent', { kind: 'not_sent', code: 'ECONNREFUSED' }, { kind: 'not_sent' }],
    ['no answer: unknown', { kind: 'no_answer', code: 'timeout' }, { kind: 'unknown', code: 'timeout' }],
  ];
  for (const [what, exchange, verdict] of OTHERS) {
    it(what, () => {
      expect(judgeSend(exchange)).to.include(verdict);
    });
  }

  it('shows the short words where there are no details, and cuts long ones', () => {
    expect(judgeSend(answered(400, { error: { code: 100, message: 'Bad' } }))).to.include({ reason: '(100) Bad' });
    expect(judgeSend(answered(400, graphError(100, 'x'.repeat(9_999)))))
      .to.have.property('reason')
      .with.lengthOf(500);
  });
});
