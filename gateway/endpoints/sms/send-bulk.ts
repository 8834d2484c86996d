import { z } from 'zod';
import type { BatchDocument } from '../../../shared/messages/batch.ts';
import { promotionalHours } from '../../../shared/messages/document/routing.ts';
import { pricedAt } from '../../../shared/money/accounts/prices.ts';
import { declareOver } from '../../../shared/money/payment/debit.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { id, success, whole } from '../../api/shapes.ts';
import { request } from '../../http/fields/request.ts';
import { validUntilFromNow } from '../../http/fields/times.ts';
import { notAccepted } from '../../http/idempotency/action.ts';
import { refusal } from '../../http/payment-refusal.ts';
import { withinRecipientLimit } from '../limits/recipients.ts';
import {
  BULK_EITHER,
  BULK_FIELDS,
  BULK_RULES,
  BulkDryRun,
  bulkDryRun,
  newBatch,
  orderBulk,
  SKIPPED,
} from './bulk-order.ts';
import { CREDITS_USED, DEFERRED_UNTIL, daytimeOf, deferral, dryRun, REFUSALS } from './message-order.ts';
import { findPaidBatch, payForBatch } from './paid-batch-store.ts';
import { predicted } from './scrubbing/facts.ts';

const BulkResult = success('BulkResult', 'A batch was accepted.', {
  batch_id: id('bat', 'Id of the batch.', 'bat_01m7znjn7hdb5pft3awkb6pgvz'),
  total: whole('Number of recipients.', { minimum: 1, example: 2 }),
  credits_used: CREDITS_USED.meta({ example: 2 }),
  deferred_until: DEFERRED_UNTIL,
  duplicates: whole('Number of entries that `dedupe` removed.', { minimum: 0 }).optional(),
  skipped: SKIPPED,
});

const BulkAnswer = z.union([BulkResult, BulkDryRun]).meta({
  id: 'BulkAnswer',
  description: '`BulkResult`, or `BulkDryRun` to a request with `dry_run`: it alone has the member `dry_run`.',
});

/** The batch is stored and paid for before the answer. A worker makes its messages. */
export const sendBulk = endpoint({
  id: 'sendBulk',
  call: 'sms.sendBulk',
  method: 'post',
  path: '/v2/send-bulk',
  tag: 'SMS',
  summary: 'Send to up to 10,000 recipients',
  description:
    'Each recipient is one billed message. If any entry is wrong, nothing is sent, and every wrong entry is reported by its index.',
  scopes: ['send'],
  test: 'apart',
  body: request({ ...BULK_FIELDS, valid_until: validUntilFromNow }, BULK_EITHER, BULK_RULES),
  ownProblems: true,
  bodyMax: 'bulk',
  answer: BulkAnswer,
  problems: [...REFUSALS, 'too_much_unpaid'],
  examples: {
    body: {
      plain: {
        to: ['919876543210', '919876543211'],
        message: 'We open at nine',
        sender: 'HARKRA',
        route: 'transactional',
      },
      'own params': {
        recipients: [
          { to: '919876543210', params: ['Asha'] },
          { to: '919876543211', params: ['Ravi'] },
        ],
        template_id: '1107160000000000001',
        sender: 'HARKRA',
        dedupe: true,
      },
    },
    answer: {
      accepted: { status: 'success', batch_id: 'bat_01m7znjn7hdb5pft3awkb6pgvz', total: 2, credits_used: 2 },
      'dry run': {
        status: 'success',
        dry_run: true,
        total: 2,
        credits_used: 0,
        credits_required: 2,
        segments: 1,
        encoding: 'GSM7',
        template_id: null,
      },
    },
  },
  newId: ({ clock }) => newId('bat', clock.now().getTime()),
  action(deps) {
    const { accepter, clock, config, db } = deps;
    const hours = promotionalHours(config);
    return {
      async act(call, { id, payBy }) {
        const { caller, told } = call;
        const account = caller.account._id;
        const order = await orderBulk(deps, caller, call.read);
        if (order.kind === 'refused') return order;
        const { total } = order.batch;
        const { valid_until: validUntil, dry_run: dry } = call.body;
        // Checked before anything is stored, so that accounts without credits cannot fill the disk.
        const credits = order.batch.credits ?? total;
        const { batch, missing } = order;
        const { placeOf, recipients } = order.held;
        const at = clock.now();
        const waits = await daytimeOf(order.held, { at, validUntil });
        if (waits.kind === 'refused') return waits;
        const deferred = deferral(hours, batch.lane, at, waits.until);
        const about = { ...batch, template: batch.content.dltId };
        const refusals = dry ? await predicted(deps, caller.account, about, { missing, at }) : {};
        const body = bulkDryRun(order, { ...refusals, ...deferred });
        const verdict = await dryRun(deps, { caller, id, credits, recipients, placeOf }, body);
        if (dry || verdict.kind === 'refused') return verdict;

        told.batchId = id;
        const stored = newBatch(id, account, order, validUntil);
        const outcome = await withinRecipientLimit(deps, caller.account, recipients, placeOf, () =>
          payForBatch(deps, stored, order.entries, payBy, (latest) =>
            accepter.acceptBatch(account, { id, total, ...pricedAt(credits, total) }, latest, caller.caps),
          ),
        );
        if (outcome.kind === 'refused') return outcome;
        if (outcome.kind === 'accepted') {
          return { kind: 'accepted', body: { ...bulkResult(stored), ...deferred } };
        }
        return notAccepted(outcome, (shown) => refusal(shown, id));
      },
      end: (account, _id, payBy) => declareOver(db, account, payBy),
      async recover(account, id) {
        const batch = await findPaidBatch(db, account, id);
        return batch && { kind: 'accepted', body: bulkResult(batch) };
      },
    };
  },
});

function bulkResult({
  _id,
  total,
  credits,
  duplicates,
  skipped,
}: Pick<BatchDocument, '_id' | 'total' | 'credits' | 'duplicates' | 'skipped'>): Shown<typeof BulkResult> {
  return {
    status: 'success',
    batch_id: _id,
    total,
    credits_used: credits ?? total,
    ...defined({ duplicates, skipped }),
  };
}
