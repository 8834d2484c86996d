import type { Db } from 'mongodb';
import type { InboundSmsDocument } from '../../shared/messages/document/any-message.ts';
import { type MessageDocument, type MessageDraft, queuedMessage } from '../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { topUp } from '../../shared/money/ledger/change.ts';
import { type AccountId, idDay, idTime, newId } from '../../shared/platform/runtime/ids.ts';

/** An account with credits from a top-up, so that its ledger is whole from the start. */
export async function makeAccount(
  db: Db,
  credits: number,
  overrides: Partial<AccountDocument> = {},
): Promise<AccountId> {
  const account = newId('acc');
  await db.collection<AccountDocument>('accounts').insertOne({
    _id: account,
    name: 'Test',
    status: 'active',
    balance: 0,
    seq: 0,
    credits: 0,
    currency: 'INR',
    expiryDate: '2099-12-31',
    senders: 'any',
    createdAt: new Date(),
    ...overrides,
  });
  if (credits > 0) await topUp(db, account, credits, newId('req'));
  return account;
}

export function makeDraft(overrides: Partial<MessageDraft> = {}): MessageDraft {
  return {
    _id: newId('msg'),
    to: '919876543210',
    sender: 'HARKRA',
    route: 'transactional',
    path: 'transactional',
    lane: 1,
    text: 'hello',
    encoding: 'GSM7',
    segments: 1,
    validUntil: new Date(Date.now() + 48 * 3_600_000),
    ...overrides,
  };
}

export function makeMessage(overrides: Partial<MessageDocument> = {}): MessageDocument {
  const made = { ...queuedMessage(newId('acc'), newId('grp'), makeDraft()), ...overrides };
  return { ...made, day: idDay(made._id), ...overrides };
}

export function makeInboundSms(overrides: Partial<InboundSmsDocument> = {}): InboundSmsDocument {
  const { _id = newId('msg') } = overrides;
  return {
    ...{ _id, day: idDay(_id), account: newId('acc'), channel: 'sms', direction: 'in', state: 'received' },
    ...{ v: 0, tries: 0, validUntil: idTime(_id), history: [{ state: 'received', at: idTime(_id) }] },
    ...{ from: '919811112222', to: '56161', carrier: 'acme', inbound: { type: 'text', body: 'a secret order' } },
    ...overrides,
  };
}
