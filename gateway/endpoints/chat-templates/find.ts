import type { Request } from 'express';
import type { Db } from 'mongodb';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { chatTemplateId } from '../../../shared/templates/chat/chat-template.ts';
import { findChatTemplateRequests } from '../../../shared/templates/chat/request-store.ts';
import { findChatTemplate } from '../../../shared/templates/chat/store.ts';
import type { OwnChatTemplate } from './record.ts';

export interface NamedTemplate extends OwnChatTemplate {
  readonly name: string;
  readonly language: string;
}

/** The template that the path names, if the account has it or has asked for it. */
export async function findNamed(db: Db, account: AccountId, { params }: Request): Promise<NamedTemplate | undefined> {
  const { name, language } = params;
  if (typeof name !== 'string' || typeof language !== 'string') return undefined;
  const own = await readOwn(db, account, name, language);
  return own.listed === undefined && own.asked === undefined ? undefined : { name, language, ...own };
}

/** Reads the request first: if the worker finishes it in between, the template that it asked for is stored by then. */
export async function readOwn(db: Db, account: AccountId, name: string, language: string): Promise<OwnChatTemplate> {
  const id = chatTemplateId(account, name, language);
  const asked = (await findChatTemplateRequests(db, [id])).get(id);
  return { listed: await findChatTemplate(db, account, name, language), asked };
}

export const NO_CHAT_TEMPLATE = {
  detail: 'Check name and language: the account has no such template. `GET /v2/account/chatapp/templates` lists them.',
};
