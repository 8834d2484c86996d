import { newId } from '../../shared/platform/runtime/ids.ts';
import { chatTemplateId } from '../../shared/templates/chat/chat-template.ts';
import { findChatTemplate, wishChatTemplate } from '../../shared/templates/chat/store.ts';
import { ownerOf } from './chatapp.ts';
import { type Case, SETTLED_MS } from './crash-cases.ts';
import { eventually } from './eventually.ts';
import type { Product } from './product.ts';

/** Crashes around a template request: the provider is asked once, and its decision is stored. */
export function templateCases(product: () => Product): readonly Case[] {
  const asks = (name: string): Pick<Case, 'act' | 'ends'> => ({
    async act() {
      const { db, account, provider } = product();
      const owner = ownerOf(account, provider?.options.businessId);
      const language = 'en_US';
      const components = { body: 'Hello, your order has left.', buttons: [] };
      const draft = { category: 'utility', components, examples: { body: [], buttons: [] } } as const;
      const wish = { ...owner, name, language, wants: 'create', draft, requestedAt: new Date() } as const;
      await wishChatTemplate(db, {
        _id: chatTemplateId(owner, name, language),
        ...wish,
        request: newId('req'),
      });
      await eventually(
        async () => (await findChatTemplate(db, owner, name, language))?.status === 'approved',
        `${name} is approved`,
        SETTLED_MS,
      );
      const asked = provider?.templateRequests().filter((one) => one.name === name);
      expect(asked).to.deep.equal([{ method: 'POST', name, status: 200 }]);
    },
    ends: [],
  });
  return [
    { point: 'template:asked', app: 'chatapp', ...asks('crash_asked') },
    { point: 'template:answered', app: 'chatapp', ...asks('crash_answered') },
  ];
}
