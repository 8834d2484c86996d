import { z } from 'zod';
import { noticeWords } from '../../../shared/events/notices.ts';
import { lastFailedMail, listMails, type MailDocument, waitingMails } from '../../../shared/people/mails.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import { isMailId } from '../../../shared/platform/runtime/ids.ts';
import { endpoint, type Shown } from '../../api/endpoint.ts';
import { flag, id, named, pageFields, text, time, whole } from '../../api/shapes.ts';
import { cursorOf, limit, pageOfFound } from '../../http/fields/query.ts';

/** Mails to users, as operators see them. Mails with a link show no text: its reader could take over the user. */

const Mail = named('Mail', 'A mail that waits, went or failed.', {
  mail_id: id('eml', undefined, 'eml_01m7znjn7hdb5pft3awkb6pgvz'),
  account_id: text('Whose user it is for. Null: an operator.', {
    example: 'acc_01m7znjn7hdb5pft3awkb6pgvz',
  }).nullable(),
  user_id: text(undefined, { example: 'usr_01m7znjn7hdb5pft3awkb6pgvz' }),
  to: text('The address.', { example: 'asha@example.com' }),
  kind: text('The event that it tells of, or `link`: a one-time link.', { example: 'key.created' }),
  subject: text('Null: it has a link.', { example: 'New API key: shop server' }).nullable(),
  text: z.array(text()).meta({ description: 'What it says. Null: it has a link.' }).nullable(),
  state: z.enum(['waiting', 'sent', 'failed', 'expired']).meta({
    description:
      '`failed`: the mail server refused it for good. `expired`: it could not be sent while it was of use: a day, or as long as its link works.',
    example: 'sent',
  }),
  at: time('When it happened.', '2026-11-22T10:00:00+00:00'),
  tries: whole('Tries that the mail server answered.', { example: 0 }),
  error: text('What went wrong last.').nullable(),
});

const COUNT_MAX = 10_000;

const MailPage = named('MailPage', {
  configured: flag(
    'Whether a mail server is set up (HARKARA_SMTP_HOST). Without one nothing is sent, and mails wait in vain.',
    true,
  ),
  waiting: whole(`Mails that are still to be sent, counted up to ${COUNT_MAX}.`, { example: 0 }),
  next_try_at: time('Of those, when the first is tried next.').nullable(),
  last_failure: z
    .strictObject({
      at: time('When.', '2026-11-22T10:00:00+00:00'),
      words: text('What the mail server answered, or why it could not be used.', { example: 'connect ECONNREFUSED' }),
    })
    .nullable()
    .meta({ id: 'MailFailure', description: 'The try that failed last.' }),
  ...pageFields(z.array(Mail)),
});

export const mails = endpoint({
  id: 'mails',
  method: 'get',
  path: '/v2/admin/mails',
  tag: 'Operators',
  summary: 'Mails to users',
  description: 'Extension. Newest first, and whether they are sent. They are kept for two weeks.',
  scopes: ['admin:read'],
  query: { limit, cursor: cursorOf('mails', isMailId) },
  answer: MailPage,
  async handle({ db, clock, config }, { query: { limit, cursor } }) {
    const [found, { count, next }, failed] = await Promise.all([
      listMails(db, cursor, limit + 1),
      waitingMails(db, clock.now(), COUNT_MAX),
      lastFailedMail(db),
    ]);
    return {
      configured: config.smtpHost !== '',
      waiting: count,
      next_try_at: next?.due === undefined ? null : isoTimestamp(next.due),
      last_failure:
        failed?.failedAt === undefined ? null : { at: isoTimestamp(failed.failedAt), words: failed.error ?? '' },
      ...pageOfFound('mails', found, limit, record),
    };
  },
});

function record(mail: MailDocument): Shown<typeof Mail> {
  const words = noticeWords(mail);
  return {
    mail_id: mail._id,
    account_id: mail.account ?? null,
    user_id: mail.user,
    to: mail.to,
    kind: mail.kind,
    subject: words?.subject ?? null,
    text: words?.text ?? null,
    state: mail.state,
    at: isoTimestamp(mail.at),
    tries: mail.tries,
    error: mail.error ?? null,
  };
}
