import type { Outcome } from '../../scripts/simulator/smsc/receipts.ts';
import { startSmsc } from '../../scripts/simulator/smsc.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, useProduct } from '../support/product.ts';
import { use } from '../support/use.ts';

const WAIT_MS = 60_000;
const GIVEN_UP = { stat: 'UNDELIV', err: '069' };
/** What the first and the second carrier do, by the number's ending. */
const FIRST: Readonly<Record<string, Outcome>> = {
  '1': { receipts: [GIVEN_UP, { stat: 'DELIVRD', delays: 10 }] },
  '2': { receipts: [GIVEN_UP] },
  '3': { receipts: [{ stat: 'UNDELIV', err: '027' }] },
  '4': { receipts: [GIVEN_UP] },
  '5': { receipts: [GIVEN_UP] },
};
const SECOND: Readonly<Record<string, Outcome>> = { '2': { status: 0x0b }, '5': { receipts: [GIVEN_UP] } };

describe('a receipt that surely means "never delivered" sends a message to the next carrier, once', function () {
  this.timeout(WAIT_MS * 3);
  const product = useProduct({
    smsc: { receiptDelayMs: 100, behaviour: ({ to }) => FIRST[to.slice(-1)] },
  });
  const second = use(() => startSmsc({ receiptDelayMs: 100, behaviour: ({ to }) => SECOND[to.slice(-1)] }));
  before(async () => {
    process.env.HARKARA_SMPP_PASSWORD = 'x';
    await product.ops(
      `carrier create second --host 127.0.0.1 --port ${second.port} --system-id harkara --receipt-failover 69`,
    );
    delete process.env.HARKARA_SMPP_PASSWORD;
    await eventually(() => second.stats().binds > 0, 'second is bound', WAIT_MS);
    await product.ops('carrier update sim --receipt-failover 69,70');
    await product.ops('route add all --carriers sim;second --receipt-failover-seconds 60');
  });

  const submits = (to: string) =>
    [product.smsc, second].map((smsc) => smsc.texts().filter((one) => one.to === to).length);
  async function ends(to: string, state: string): Promise<Answer['body']> {
    const { body } = await product.send(to, 'Your code is 4711.');
    return eventually(
      async () => {
        const { body: whole } = await product.get(`/v2/messages/${body.message_id}`);
        if (whole.status !== state) throw new Error(JSON.stringify(whole));
        return whole;
      },
      `it is ${state}`,
      WAIT_MS,
    );
  }
  const receipts = ({ timeline }: Answer['body']) =>
    (timeline as { what: string; carrier: string; result: string }[])
      .filter(({ what }) => what === 'receipt')
      .map(({ carrier, result }) => `${carrier} ${result}`);

  it('the next one delivers it: one charge, told once; what the first says later decides nothing', async () => {
    const to = '919876500001';
    const whole = await ends(to, 'delivered');

    expect(submits(to)).to.deep.equal([1, 1]);
    expect(whole).to.include({ carrier: 'second' });
    const late = await eventually(
      async () => {
        const { body } = await product.get(`/v2/messages/${whole.message_id}`);
        expect(receipts(body)).to.include.members(['sim failover', 'sim duplicate']);
        return body;
      },
      'the late receipt is on the timeline',
      WAIT_MS,
    );
    expect(late.status).to.equal('delivered');
    const states = (late.timeline as { what: string; status?: string }[]).filter(({ what }) => what === 'state');
    expect(states.map(({ status }) => status)).to.deep.equal(['sent', 'delivered']);
  });

  it('the next one refuses it: it failed, and is not refunded, because a carrier had taken it', async () => {
    const whole = await ends('919876500002', 'failed');

    // Carriers' words are stored after the state.
    const timeline = await eventually(
      async () => {
        const { body } = await product.get(`/v2/messages/${whole.message_id}`);
        const told = body.timeline as { what: string; carrier?: string; outcome?: string }[];
        return told.some(({ what, carrier }) => what === 'answer' && carrier === 'second') ? told : undefined;
      },
      'the answer of the second carrier is on the timeline',
      WAIT_MS,
    );
    const answer = timeline?.find(({ what, carrier }) => what === 'answer' && carrier === 'second');
    expect(answer?.outcome).to.equal('rejected');
    expect(timeline?.map(({ what }) => what)).to.not.include('refunded');
  });

  it('an error that is not of the setting ends it, and so does the second one', async () => {
    const absent = await ends('919876500003', 'failed');
    const twice = await ends('919876500005', 'failed');

    expect([absent.error_code, submits('919876500003')]).to.deep.equal(['027', [1, 0]]);
    expect([twice.error_code, submits('919876500005')]).to.deep.equal(['069', [1, 1]]);
  });

  it('a process that dies when the receipt is settled loses nothing, and sends it once', async () => {
    const to = '919876500004';
    const died = await product.arm('smpp', 'settle:updated#2');

    const [exit] = await Promise.all([died(), ends(to, 'delivered')]);

    expect(exit).to.deep.include({ app: 'smpp', signal: 'SIGKILL' });
    expect(submits(to)).to.deep.equal([1, 1]);
  });

  it('a route without the setting ends it, and each message was paid for once', async () => {
    await product.ops('route set all --receipt-failover-seconds 0');
    let tries = 0;
    const last = await eventually(
      async () => {
        const to = `91987651${tries}002`;
        tries += 1;
        const { error_code: code } = await ends(to, 'failed');
        return code === '069' ? to : undefined;
      },
      'the route is known',
      WAIT_MS,
    );

    expect(submits(last ?? '')).to.deep.equal([1, 0]);
    const { problems, balance } = await verifyLedger(product.db, product.account);
    expect(problems).to.deep.equal([]);
    expect(product.credits - balance).to.equal(5 + tries);
  });
});
