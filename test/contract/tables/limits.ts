/** "Limits", except "Template review time", which is the provider's (errors.ts: a template under review). */
export const LIMITS = {
  requestRate: { value: 1_000, unit: 'requests a minute and API key', exceeding: 429 },
  bulkRecipients: { value: 10_000, unit: 'recipients of POST /v2/send-bulk', exceeding: 400 },
  billingUnit: { value: 1, unit: 'credit for each recipient, whatever the number of segments' },
  sessionWindow: { value: 24, unit: 'hours after the customer’s last message', exceeding: 403 },
} as const;
