import { EVENTS } from '../../../shared/events/catalogue.ts';
import type { Contract } from '../../api/contract.ts';
import { fieldLists } from './field-list.ts';
import { code, escapeHtml, prose } from './html.ts';
import { answerSamples } from './operation.ts';

/** What is posted to customers: when, the members of each payload, and a sample. */
export function eventSection(contract: Contract): string {
  const channels: Readonly<Record<string, { readonly channels: readonly string[] } | undefined>> = EVENTS;
  const events = Object.entries(contract.webhooks).map(([name, { post }]) => {
    const id = escapeHtml(eventAnchor(name));
    const body = post.requestBody.content?.['application/json'];
    const where = channels[name]?.channels.map(code).join(', ') ?? '';
    return `<section class="operation" id="${id}" aria-labelledby="${id}-name"><h3 id="${id}-name"><a href="#${id}">${escapeHtml(name)}</a></h3>
<div class="columns"><div class="told"><p>${prose(post.summary)}${where === '' ? '' : ` <span class="soft">Channel: ${where}</span>`}</p>
<h4>Payload <span class="soft">application/json</span></h4>${body === undefined ? '' : fieldLists(contract, body.schema)}</div>
<div class="samples">${answerSamples(body, 'Payload')}</div></div></section>`;
  });
  return `<h2 id="webhooks">Webhooks</h2><p>Each event is posted to your address as one JSON object, signed as Standard Webhooks says. ${prose('Answer 2xx within 15 seconds. `webhook-id` is the same on every attempt.')}</p>${events.join('')}`;
}

export function eventAnchor(name: string): string {
  return `event-${name}`;
}
