import { CODE_GROUPS } from '../messages/explain/explain.ts';
import type { ExplainedCodes } from '../messages/explain/explanation.ts';
import { RECEIPT_REASONS } from '../messages/explain/receipt-reasons.ts';
import { code, escapeHtml, prose } from './html.ts';

/** Why messages fail: every `error_code` with its cause and what to do. */
export function errorCodeSection(): string {
  const groups = CODE_GROUPS.map(({ heading, codes }) => {
    const items = codes.map(
      (entry) =>
        `<div id="${codeAnchor(entry)}"><dt>${entry.codes.map(code).join(', ')}</dt><dd>${prose(entry.cause)} <span class="advice">${prose(entry.advice)}</span></dd></div>`,
    );
    return `<h3>${escapeHtml(heading)}</h3><dl class="catalogue">${items.join('')}</dl>`;
  });
  const reasons = RECEIPT_REASONS.map(
    ({ reason, advice }) => `<div><dt>${escapeHtml(reason)}</dt><dd>${prose(advice)}</dd></div>`,
  );
  return `<h2 id="error-codes">Why messages fail</h2><p>${prose('The `error_code` of a message that failed, expired or was rejected: what happened, and what to do.')}</p>${groups.join('')}
<h3>Receipts of carriers</h3><p>Each carrier numbers its errors in its own way. Go by <code>error_reason</code>.</p><dl class="catalogue">${reasons.join('')}</dl>`;
}

/** The entry is named by the first of its codes. */
export function codeAnchor({ codes: [first = ''] }: ExplainedCodes): string {
  return `code-${first}`;
}
