import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { testAccountOf } from '../../shared/platform/runtime/ids.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, useProduct } from '../support/product.ts';

/** Retries of a full queue wait 5 s and 15 s (shared/messages/settlement/decide-outcome.ts), more on a busy machine. */
const SETTLED_MS = 120_000;

/** Results by the destination's last digits (docs/magic-numbers.md). */
const MAGIC = [
  { ending: '101', status: 'failed', events: ['sent', 'failed'], errorCode: '001' },
  { ending: '102', status: 'expired', events: ['sent', 'expired'], errorCode: '027' },
  { ending: '103', status: 'rejected', events: ['sent', 'rejected'], errorCode: '052' },
  { ending: '104', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '105', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '106', status: 'sent', events: ['sent'] },
  { ending: '107', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '108', status: 'rejected', events: ['rejected'], errorCode: '0x0B', refunded: true },
  { ending: '109', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '110', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '111', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '112', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '113', status: 'failed', events: ['failed'], errorCode: 'partial', segments: 2 },
  { ending: '114', status: 'failed', events: ['sent', 'failed'], errorCode: '633' },
  { ending: '115', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '116', status: 'delivered', events: ['sent', 'delivered'] },
  { ending: '117', status: 'failed', events: ['sent', 'failed'], errorCode: '255' },
  { ending: '118', status: 'delivered', events: ['sent', 'delivered'] },
] as const satisfies readonly MagicCase[];

/** The same with a test key. */
const TESTED = [
  { ending: '210', events: ['sent ', 'delivered '] },
  { ending: '101', events: ['sent ', 'failed 001'] },
  { ending: '108', events: ['rejected 0x0B'] },
];

interface MagicCase {
  readonly ending: string;
  readonly status: string;
  readonly events: readonly string[];
  readonly errorCode?: string;
  /** No carrier accepted any part. */
  readonly refunded?: true;
  readonly segments?: number;
}

describe('the whole path of a message, through real processes', function () {
  this.timeout(SETTLED_MS + 30_000);
  const product = useProduct({ carrier: { name: 'Simulated Carrier', responseTimeoutMs: 5_000 } });

  async function reaches(id: string, status: string): Promise<Answer['body']> {
    const record = await eventually(
      async () => {
        const { body } = await product.get(`/v2/status/${id}`);
        if (body.status !== status) throw new Error(JSON.stringify(body));
        return body;
      },
      `${id} ${status}`,
      SETTLED_MS,
    );
    return record;
  }

  async function sent(to: string, message: string): Promise<string> {
    const { status, body } = await product.send(to, message);
    expect(status, JSON.stringify(body)).equal(200);
    return String(body.message_id);
  }

  const webhooksOf = (id: string) => product.receiver.received().filter(({ json }) => json.message_id === id);

  it('answers with the five fields, ends as delivered with operator and time, and posts both events, signed', async () => {
    const { status, body } = await product.send('919876543210', 'Hello from Harkara');

    expect(status).equal(200);
    expect(body).deep.equal({
      status: 'success',
      message_id: body.message_id,
      to: '919876543210',
      status_code: '1000',
      credits_used: 1,
    });
    const id = String(body.message_id);
    const record = await reaches(id, 'delivered');
    expect(record).include({ message_id: id, to: '919876543210', operator: 'Simulated Carrier' });
    expect(record.delivered_at).match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/);

    await eventually(() => webhooksOf(id).length === 2, 'both webhooks');
    const posts = webhooksOf(id);
    // Several posts may be in flight, so their order is not promised.
    expect(posts.map(({ json, signature }) => `${json.event} ${signature}`)).to.have.members([
      'message.sent valid',
      'message.delivered valid',
    ]);
    expect(posts.find(({ json }) => json.event === 'message.delivered')?.json).deep.include({
      message_id: id,
      to: '919876543210',
      status: 'delivered',
      operator: 'Simulated Carrier',
      delivered_at: record.delivered_at,
    });
  });

  for (const [what, to, text, segments] of [
    [
      'a GSM text of three segments',
      '919876543301',
      `${'Dear customer, your bill of €90 [May] is due. '.repeat(8)}Thank you`,
      3,
    ],
    ['a Hindi text', '919876543302', 'नमस्ते, आपका ओटीपी 482913 है। किसी को न बताएं।', 1],
    [
      'a Hindi text of three segments with an emoji',
      '919876543303',
      'आपका ऑर्डर भेज दिया गया है 🎉 धन्यवाद। '.repeat(4),
      3,
    ],
  ] as const) {
    it(`${what} is what the phone shows`, async () => {
      const id = await sent(to, text);

      await reaches(id, 'delivered');
      const shown = product.smsc.texts().filter((each) => each.to === to);
      expect(shown.map((each) => each.text)).deep.equal([text]);
      expect(shown[0]?.parts).length(segments);
    });
  }

  it('every fate that a carrier can prepare ends in its state, with each event once, and refunds only what no carrier took', async () => {
    const before = await product.get('/v2/balance');
    const cases = MAGIC.map((magic: MagicCase) => ({
      ...magic,
      to: `919876544${magic.ending}`,
      text: magic.segments === undefined ? 'Your order has left.' : 'Your order has left. '.repeat(10),
    }));

    // The message that breaks the connection goes alone: others in flight would share its fate.
    const ids = new Map<string, string>();
    for (const { ending, to, text } of cases.toReversed()) {
      ids.set(ending, await sent(to, text));
      if (ending === '118') await reaches(ids.get(ending) ?? '', 'delivered');
    }

    const ended: unknown[] = [];
    for (const { ending, status } of cases) {
      const { error_code, outcome } = await reaches(ids.get(ending) ?? '', status);
      ended.push({ ending, status, errorCode: error_code, outcome });
    }
    expect(ended).deep.equal(
      cases.map(({ ending, status, errorCode }) => ({ ending, status, errorCode, outcome: undefined })),
    );

    const posted = await eventually(
      () => {
        const events = cases.map(({ ending }) => [
          ending,
          webhooksOf(ids.get(ending) ?? '')
            .map(({ json, signature }) => `${json.status} ${signature}`)
            .sort(),
        ]);
        const wanted = cases.map(({ ending, events }) => [ending, events.map((event) => `${event} valid`).sort()]);
        expect(events).deep.equal(wanted);
        return events;
      },
      'the webhooks of all',
      SETTLED_MS,
    );
    expect(posted).length(cases.length);

    const refunded = cases.filter((magic) => magic.refunded).length;
    await eventually(async () => {
      const { body } = await product.get('/v2/balance');
      expect(body.balance).equal(Number(before.body.balance) - cases.length + refunded);
      return true;
    }, 'the refund');
    expect(await verifyLedger(product.db, product.account)).deep.include({ problems: [] });
  });

  it('with a test key the same numbers decide; no carrier, ledger or live list knows of it', async () => {
    const key = (await product.ops(`key create ${product.account} --name ci --test`)).split('\n')[0] ?? '';
    expect(key).match(/^hk_test_/);
    const [entries, submits] = [await liveEntries(), product.smsc.texts().length];
    const call = async (path: string, body?: object): Promise<Answer['body']> => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(new URL(path, product.url), init)).json() as Promise<Answer['body']>;
    };
    const text = { message: 'A test', sender: 'HARKRA' };
    const ids = new Map<string, string>();
    for (const { ending } of TESTED) {
      const { message_id } = await call('/v2/send', { to: `919876545${ending}`, ...text });
      ids.set(ending, String(message_id));
    }
    await call('/v2/send-bulk', { to: ['919876545601', '919876545602'], ...text });

    await eventually(
      () =>
        expect(
          TESTED.map(({ ending }) => [
            ending,
            webhooksOf(ids.get(ending) ?? '')
              .map(({ json, signature }) => `${json.status} ${json.error_code ?? ''} ${json.test} ${signature}`)
              .sort(),
          ]),
        ).deep.equal(TESTED.map(({ ending, events }) => [ending, events.map((event) => `${event} true valid`).sort()])),
      'the webhooks of the tests',
      SETTLED_MS,
    );
    const delivered = { account: testAccountOf(product.account), state: 'delivered' };
    await eventually(
      async () => (await product.db.collection('messages').countDocuments(delivered)) === 3,
      'the batch too',
    );
    // An empty document may stay for a day after a slow command was repeated.
    const waiting = { removeAt: { $exists: false } };
    await eventually(async () => (await product.db.collection('queue').countDocuments(waiting)) === 0, 'no lines');
    expect((await call('/v2/account/webhooks')).code).equal('live_key_needed');
    for (const id of ids.values()) expect((await product.get(`/v2/status/${id}`)).status).equal(404);
    const listed = await product.get('/v2/messages?limit=500');
    expect(JSON.stringify(listed.body)).not.include('919876545');
    expect([await liveEntries(), product.smsc.texts().length]).deep.equal([entries, submits]);
    expect(await verifyLedger(product.db, testAccountOf(product.account))).deep.include({ problems: [] });
  });

  async function liveEntries(): Promise<number> {
    return (await verifyLedger(product.db, product.account)).entries;
  }
});
