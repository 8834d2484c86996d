import { createEditChatTemplate } from '../account/chat-templates/edit.ts';
import { createOwnChatTemplates } from '../account/chat-templates/list.ts';
import { createRemoveChatTemplate } from '../account/chat-templates/remove.ts';
import { createRequestChatTemplate } from '../account/chat-templates/request.ts';
import { noQuery } from '../http/no-query.ts';
import type { GatewayDeps } from '../process/deps.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/** Requests for templates. An operator, or the provider, approves them. */
export function routeTemplates(on: On, deps: GatewayDeps, parts: Parts): void {
  // The chatapp worker connects to the sample files of headers, by the rules for webhooks.
  const { once, message, reading, webhookUrl: sampleUrl } = parts;
  const key = keyHandlers(parts);
  on('/v2/account/chatapp/templates', {
    get: [...key('read', 'manage'), createOwnChatTemplates(reading)],
    post: [...key('manage'), message, once(createRequestChatTemplate(deps, sampleUrl))],
  });
  on('/v2/account/chatapp/templates/:name/:language', {
    patch: [...key('manage'), message, createEditChatTemplate(deps, sampleUrl)],
    delete: [...key('manage'), noQuery, createRemoveChatTemplate(deps)],
  });
}
