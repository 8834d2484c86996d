import { z } from 'zod';
import { ROUTES } from '../../../shared/messages/document/routing.ts';
import { decimal, id, named, pageShape, success, text, time, whole } from '../../api/shapes.ts';
import { SKIPPED } from '../sms/bulk-order.ts';
import { CREDITS_USED } from '../sms/message-order.ts';

export const BatchId = id('bat', 'Id of the batch.', 'bat_01m7znjn7hdb5pft3awkb6pgvz');
export const IN_PATH = { batch_id: BatchId.describe('Id of a batch.') };

const some = (example?: number) => whole(undefined, { minimum: 0, ...(example !== undefined && { example }) });

const state = z.enum(['processing', 'finished', 'stopping', 'stopped']);
const progress = decimal('The share of recipients that no longer waits, 0 to 1.', {
  minimum: 0,
  maximum: 1,
  example: 0.5,
});
const counts = z
  .strictObject({
    queued: some(5),
    sent: some(2),
    delivered: some(3),
    failed: some(),
    expired: some(),
    rejected: some(),
  })
  .meta({ description: 'Entries by status; together `total`.' });

const COMMON = {
  batch_id: BatchId,
  created_at: time(undefined, '2026-11-21T10:00:00+00:00'),
  sender: text('As it is sent.', { example: 'HARKRA' }),
  route: z.enum(ROUTES),
  reference: text('Your own name for the message.').optional(),
  total: whole(undefined, { minimum: 1, example: 10 }),
  duplicates: some().optional(),
  skipped: SKIPPED,
  stopped: whole('Entries that were stopped.', { minimum: 0 }).optional(),
  credits_used: CREDITS_USED.meta({ example: 10 }),
};

export const Batch = success('Batch', {
  ...COMMON,
  state: state.meta({
    description: '`finished`: every message was sent or has ended; receipts may still come.',
  }),
  progress,
  counts,
  credits_refunded: some(),
});

export const BatchSummary = named('BatchSummary', 'A batch, as lists show it.', {
  ...COMMON,
  state: state
    .meta({
      description:
        '`finished`: every message was sent or has ended; receipts may still come. Absent when the page did not count the batch and it may be either.',
      example: 'processing',
    })
    .optional(),
  progress: progress.optional(),
  counts: counts.optional(),
});

export const BatchPage = pageShape('BatchPage', BatchSummary, 'Batches, newest first.');
