import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import {
  NumberTaken,
  type ProviderChange,
  providersOf,
  type SetProvider,
  setProvider,
} from '../../shared/carriers/providers/store.ts';
import type { BusinessNumber } from '../../shared/messages/document/chat-message.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import {
  type ChatTemplateDocument,
  chatTemplateId,
  type TemplateOwner,
} from '../../shared/templates/chat/chat-template.ts';
import { replaceChatTemplates } from '../../shared/templates/chat/store.ts';
import { readTemplate } from '../../workers/chatapp/provider/template-list.ts';
import { boxOf } from './secret-box.ts';

export const TEST_BOX = boxOf(Buffer.alloc(32, 7));

const PHONE_NUMBER_ID = '1055';

/** The least that an operator must set for a provider. */
export const PROVIDER: ProviderChange = {
  baseUrl: 'http://127.0.0.1:9/v23.0',
  phoneNumberId: PHONE_NUMBER_ID,
  businessId: '2055',
  token: 'EAAtest',
  appSecret: 'app-secret',
};

/** The default number, if no account had it before. */
export const NUMBER: BusinessNumber = '918000000001';

/** The owner of an account's templates, by default at its default business account. */
export function ownerOf(account: AccountId, business = '2055'): TemplateOwner {
  return { account, business };
}

/**
 * Gives an account a chat-app number (by default the next free one), or changes its provider. `number`: another number.
 * Returns the verify token too.
 */
export async function makeProvider(
  db: Db,
  account: AccountId,
  { number, ...change }: ProviderChange & { readonly number?: string } = {},
): Promise<SetProvider> {
  const [own] = await providersOf(db, [account]);
  const set = (of: string, settings: ProviderChange) => setProvider(db, systemClock, TEST_BOX, account, of, settings);
  if (number !== undefined) return set(number, { ...PROVIDER, ...change });
  if (own !== undefined) return set(own._id, { ...PROVIDER, phoneNumberId: own.phoneNumberId, ...change });
  for (let n = 1; ; n++) {
    try {
      const phoneNumberId = n === 1 ? PHONE_NUMBER_ID : `${PHONE_NUMBER_ID}${n}`;
      return await set(`9180000${String(n).padStart(5, '0')}`, { ...PROVIDER, phoneNumberId, ...change });
    } catch (error) {
      if (!(error instanceof NumberTaken && error.by === 'number')) throw error;
    }
  }
}

export function makeChatTemplate(
  account: AccountId,
  overrides: Partial<Omit<ChatTemplateDocument, '_id' | 'account'>> = {},
): ChatTemplateDocument {
  const { variables = 2 } = overrides;
  const template = {
    ...ownerOf(account),
    name: 'order_update',
    language: 'en_US',
    status: 'approved',
    category: 'utility',
    variables,
    components: { body: Array.from({ length: variables }, (_, i) => `{{${i + 1}}}`).join(' '), buttons: [] },
    syncedAt: new Date(),
    ...overrides,
  };
  return { _id: chatTemplateId(template, template.name, template.language), ...template };
}

/** Replaces the account's templates by these of the provider's list. */
export async function copyTemplates(db: Db, account: AccountId, listed: readonly object[]): Promise<void> {
  const templates = listed.map((entry) => {
    const template = readTemplate(ownerOf(account), entry, new Date());
    assert(!('problem' in template), 'a template that can be read');
    return template;
  });
  await replaceChatTemplates(db, ownerOf(account), templates);
}
