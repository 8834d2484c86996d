import { createEditChatTemplate } from '../endpoints/chat-templates/edit.ts';
import { createOwnChatTemplates } from '../endpoints/chat-templates/list.ts';
import { createRemoveChatTemplate } from '../endpoints/chat-templates/remove.ts';
import { createRequestChatTemplate } from '../endpoints/chat-templates/request.ts';
import { createChangeTemplate } from '../endpoints/templates/change.ts';
import { createCheckTemplate } from '../endpoints/templates/check.ts';
import { createImportTemplates } from '../endpoints/templates/import.ts';
import { createAccountTemplates } from '../endpoints/templates/list.ts';
import { createRemoveTemplate } from '../endpoints/templates/remove.ts';
import { createRequestTemplate } from '../endpoints/templates/request.ts';
import type { GatewayDeps } from '../http/deps.ts';
import { noQuery } from '../http/no-query.ts';
import type { Parts } from './parts.ts';
import { keyHandlers, type On } from './route.ts';

/** Requests for templates. An operator, or the provider, approves them. */
export function routeTemplates(on: On, deps: GatewayDeps, parts: Parts): void {
  // The chatapp worker connects to the sample files of headers, by the rules for webhooks.
  const { once, message, bulk, reading, webhookUrl: sampleUrl } = parts;
  const key = keyHandlers(parts);
  on('/v2/account/templates', {
    get: [...key('read', 'manage'), createAccountTemplates(reading)],
    post: [...key('manage'), message, once(createRequestTemplate(deps))],
  });
  on('/v2/account/templates/check', { post: [...key('read', 'manage'), message, createCheckTemplate(deps)] });
  on('/v2/account/templates/import', { post: [...key('manage'), bulk, once(createImportTemplates(deps))] });
  on('/v2/account/templates/:template_id', {
    patch: [...key('manage'), message, createChangeTemplate(deps)],
    delete: [...key('manage'), noQuery, createRemoveTemplate(deps)],
  });
  on('/v2/account/chatapp/templates', {
    get: [...key('read', 'manage'), createOwnChatTemplates(reading)],
    post: [...key('manage'), message, once(createRequestChatTemplate(deps, sampleUrl))],
  });
  on('/v2/account/chatapp/templates/:name/:language', {
    patch: [...key('manage'), message, createEditChatTemplate(deps, sampleUrl)],
    delete: [...key('manage'), noQuery, createRemoveChatTemplate(deps)],
  });
}
