import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import type { ProviderChange } from '../../shared/carriers/providers/store.ts';
import { setProvider } from '../../shared/carriers/providers/store.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { type ChatTemplateDocument, chatTemplateId } from '../../shared/templates/chat/chat-template.ts';
import { replaceChatTemplates } from '../../shared/templates/chat/store.ts';
import { readTemplate } from '../../workers/chatapp/provider/template.ts';
import { boxOf } from './secret-box.ts';

export const TEST_BOX = boxOf(Buffer.alloc(32, 7));

/** The least that an operator must set for a provider. */
export const PROVIDER: ProviderChange = {
  baseUrl: 'http://127.0.0.1:9/v23.0',
  phoneNumberId: '1055',
  businessId: '2055',
  displayNumber: '918000000001',
  token: 'EAAtest',
  appSecret: 'app-secret',
};

/** Gives an account a number on the chat-app channel. Returns the verify token too. */
export async function makeProvider(db: Db, account: AccountId, change: ProviderChange = {}) {
  return setProvider(db, systemClock, TEST_BOX, account, { ...PROVIDER, ...change });
}

export function makeChatTemplate(
  account: AccountId,
  overrides: Partial<Omit<ChatTemplateDocument, '_id' | 'account'>> = {},
): ChatTemplateDocument {
  const { variables = 2 } = overrides;
  const template = {
    account,
    name: 'order_update',
    language: 'en_US',
    status: 'approved',
    category: 'utility',
    variables,
    components: { body: Array.from({ length: variables }, (_, i) => `{{${i + 1}}}`).join(' '), buttons: [] },
    syncedAt: new Date(),
    ...overrides,
  };
  return { _id: chatTemplateId(account, template.name, template.language), ...template };
}

/** Gives an account the templates that a provider lists like this, in place of those it has. */
export async function copyTemplates(db: Db, account: AccountId, listed: readonly object[]): Promise<void> {
  const templates = listed.map((entry) => {
    const template = readTemplate(account, entry, new Date());
    assert(!('problem' in template), 'a template that can be read');
    return template;
  });
  await replaceChatTemplates(db, account, templates);
}
