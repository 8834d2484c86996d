import {
  answerRecord,
  MessageLog,
  policyRecord,
  receiptRecord,
} from '../../../../shared/messages/settlement/message-log.ts';
import { applyCredits, refundMessages } from '../../../../shared/money/ledger/change.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import type { IncomingReceipt } from '../../../../workers/smpp/receipts/receipt-match.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { eventually } from '../../../support/eventually.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { messagesAt } from './messages-at.ts';

describe('GET /v2/messages/{message_id}: its timeline', () => {
  const site = accountAtGateway(100);
  const { ask, messages, sent, soon } = messagesAt(site);

  it('what carriers said, raw and as it was read, and the template that the text matched', async () => {
    const id = await sent({
      template: '1107160000000000001',
      entityId: '1101160000000000009',
      claim: { id: newId('clm'), carrier: 'alpha', epoch: 1, at: soon(1) },
      history: [{ state: 'failed', at: soon(9) }],
      state: 'failed',
    });
    const claimed = await messages().findOne({ _id: id });
    if (claimed === null) throw new Error('no such message');
    const receipt: IncomingReceipt = {
      candidates: [],
      from: '919876543210',
      to: 'HARKRA',
      excerpt: 'id:7f sub:001 stat:UNDELIV err:650',
      tlvs: { receiptedMessageId: '7f', messageState: 5, networkErrorCode: '030001' },
      part: { state: 'failed', error: '650', reason: 'blocked', operator: 'Alpha', doneAt: soon(7) },
    };
    const log = new MessageLog({ db: site.db, clock: systemClock, log: silentLog, days: 30 });
    const answers = [
      answerRecord(claimed, { kind: 'throttled', code: 'ESME_RTHROTTLED', reason: 'Too fast' }, soon(2)),
      answerRecord(claimed, { kind: 'unknown', parts: [{ state: 'unknown' }] }, soon(3)),
    ].flatMap((record) => record ?? []);
    log.add([
      ...answers,
      policyRecord(claimed, { _id: 'alpha', unknownPolicy: 'assume_sent' }, 'sent', soon(4)),
      receiptRecord('alpha', id, 'alpha:7f', receipt, 'matched', soon(8)),
    ]);
    await eventually(() => log.idle, 'all is logged');

    const { body } = await ask(id);

    expect(body.timeline.map(({ what }: { what: string }) => what)).to.deep.equal([
      'accepted',
      'template',
      'path',
      'paid',
      'taken',
      'answer',
      'answer',
      'policy',
      'receipt',
      'state',
    ]);
    expect(body.timeline[1]).to.include({ template_id: '1107160000000000001', entity_id: '1101160000000000009' });
    expect(body.timeline.slice(5, 9).map((entry: object) => ({ ...entry, at: '', done_at: '' }))).to.deep.equal([
      {
        at: '',
        done_at: '',
        what: 'answer',
        carrier: 'alpha',
        outcome: 'throttled',
        error_code: 'ESME_RTHROTTLED',
        error_reason: 'Too fast',
      },
      {
        at: '',
        done_at: '',
        what: 'answer',
        carrier: 'alpha',
        outcome: 'unknown',
        parts: [{ number: 1, state: 'unknown', carrier_message_id: null, error: null }],
      },
      { at: '', done_at: '', what: 'policy', carrier: 'alpha', policy: 'assume_sent', became: 'sent' },
      {
        at: '',
        done_at: '',
        what: 'receipt',
        carrier: 'alpha',
        result: 'matched',
        carrier_message_id: '7f',
        status: 'failed',
        error_code: '650',
        error_reason: 'blocked',
        raw: { text: receipt.excerpt, receipted_message_id: '7f', message_state: 5, network_error_code: '030001' },
      },
    ]);
  });

  it('a refused message: why, and the refund with its place in the ledger', async () => {
    const id = await sent({
      state: 'rejected',
      errorCode: 'carrier_69',
      errorReason: 'Submit failed',
      history: [{ state: 'rejected', at: new Date() }],
    });
    const message = await messages().findOne({ _id: id });
    if (message === null) throw new Error('no such message');
    await refundMessages(site.db, [message]);

    const { body } = await ask(id);

    expect(body).to.include({ status: 'rejected', error_code: 'carrier_69', error_reason: 'Submit failed' });
    expect(body.timeline.at(-1)).to.include({ what: 'refunded', credits: 1, ledger_seq: 3 });
  });

  it('what was refunded together with others shows its own part', async () => {
    const change = { id: 'ref_bat_x_00001', amount: 500, reason: 'refund' } as const;
    const id = await sent({
      state: 'rejected',
      refund: change.id,
      history: [{ state: 'rejected', at: new Date() }],
    });
    const message = await messages().findOne({ _id: id });
    if (message === null) throw new Error('no such message');
    await applyCredits(site.db, message.account, [change]);

    const { body } = await ask(id);

    expect(body.timeline.at(-1)).to.include({ what: 'refunded', credits: 1 });
  });
});
