import type { BatchId } from '../../../shared/platform/runtime/ids.ts';
import { callbackPost, callbackSignature } from '../../support/chat-callback.ts';

/** One of the most expensive requests, at its endpoint's limit. */
export interface Worst {
  readonly what: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whose key it uses. Default: the account that checks numbers. */
  readonly account?: 'checking' | 'dlt' | 'alike';
  /** Simultaneous requests. */
  readonly together?: number;
  readonly status: 200 | 400 | 401 | 404;
}

const BULK_BYTES = 10_485_760;
const MESSAGE_BYTES = 65_536;
const CALLBACK_BYTES = 3_145_728;
const FILE_BYTES = 1_048_576;
export const RECIPIENTS = 10_000;
export const SENDER = 'HARKRA';
/** Slots and id of the template with the most slots. */
export const SLOTS = 45;
export const SLOTS_TEMPLATE = '1107160000000099999';

export function mobile(i: number): string {
  return `9198${String(70_000_000 + i * 97)}`;
}

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

function filled(bytes: number, head: string, piece: string, tail: string): string {
  return head + piece.repeat(Math.floor((bytes - head.length - tail.length) / piece.length)) + tail;
}

/** Large bodies: 10,000 recipients or 10 MB. */
export function worstBulks(): Worst[] {
  const sent = (status: 200 | 400, what: string, body: object | string, more: Partial<Worst> = {}): Worst => {
    const text = typeof body === 'string' ? body : JSON.stringify({ message: 'x', sender: SENDER, ...body });
    return { what: `a bulk: ${what}`, method: 'POST', path: '/v2/send-bulk', body: text, status, ...more };
  };
  const numbers = times(RECIPIENTS, (i) => mobile(RECIPIENTS + i));
  const noCountry = (i: number) => String(1 + (i % 9)) + String(1e12 + i * 7_919_117).slice(1, 13);
  const filling = {
    message: undefined,
    template_id: SLOTS_TEMPLATE,
    recipients: numbers.map((to) => ({ to, params: times(SLOTS, () => '1'.repeat(17)) })),
  };
  const few = { ...filling, recipients: numbers.map((to) => ({ to, params: ['1'] })) };
  const unknown = Object.fromEntries(times(45, (i) => [`recipiemt${i}`, i]));
  const tail = `],"message":"x","sender":"${SENDER}"}`;
  const list = (piece: string) => filled(BULK_BYTES, '{"to":[', piece, `""${tail}`);
  return [
    sent(200, 'numbers that are checked', { to: numbers }),
    sent(
      200,
      'the same two times, as trials and without what is double',
      { to: numbers, dedupe: true, dry_run: true },
      { together: 2 },
    ),
    sent(200, 'half of them have opted out', {
      to: numbers.map((_, i) => mobile(RECIPIENTS / 2 + i)),
      skip_opted_out: true,
      dry_run: true,
    }),
    sent(400, 'numbers of no country', { to: times(RECIPIENTS, noCountry) }),
    sent(400, 'entries that are no texts', { to: times(RECIPIENTS, () => ({ a: 1 })) }),
    sent(
      200,
      'params that fill a template, with a key',
      { ...filling, dry_run: true, dedupe: true },
      { headers: { 'Idempotency-Key': 'worst' } },
    ),
    sent(400, 'params that do not fit', few),
    sent(400, 'unknown fields in each entry', { recipients: numbers.map((to) => ({ to, ...unknown })) }),
    sent(400, 'as many values as there may be', `{"to":[${'1,'.repeat(499_000)}1${tail}`),
    sent(400, 'as many objects, with a key', `{"to":[${'{},'.repeat(499_000)}{}${tail}`, {
      headers: { 'Idempotency-Key': 'objects' },
    }),
    sent(400, 'more values than there may be', list('[""],')),
    sent(400, 'texts of 64 KB', list(`"${'x'.repeat(65_000)}",`)),
    sent(400, 'nested as deep as may be', list(`${'['.repeat(60)}${'],['.repeat(19_000)}${']'.repeat(60)},`)),
    sent(400, 'escapes', list(`"${'\\u0041'.repeat(10_000)}",`)),
    sent(400, 'blanks', filled(BULK_BYTES, '{', ' ', '}')),
    sent(400, 'one text', filled(BULK_BYTES, '{"message":"', 'x', '"}')),
    sent(400, 'quotes', filled(BULK_BYTES, '{"to":[', '"', '}')),
    sent(400, 'four at a time', { to: times(RECIPIENTS, noCountry) }, { together: 4 }),
  ];
}

/** Many simultaneous bodies of 64 KB. */
export function worstMessages(): Worst[] {
  const sent = (path: string, status: 200 | 400, what: string, body: object | string): Worst => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return { what: `20 × ${path}: ${what}`, method: 'POST', path, body: text, status, together: 20 };
  };
  const to = mobile(RECIPIENTS);
  const text = (message: string) => ({ to, message, sender: SENDER, dry_run: true });
  const names = `{${times(3_000, (i) => `"recipient${i}":1`).join()}}`;
  const chatTemplate = (body: string) => ({ name: 'x', language: 'en', category: 'UTILITY', body });
  return [
    sent('/v2/send', 400, 'brackets', filled(MESSAGE_BYTES, '{"to":', '[', '')),
    sent('/v2/send', 400, 'lists', filled(MESSAGE_BYTES, '{"to":[', '[],', '[]]}')),
    sent('/v2/send', 400, 'unknown names', names),
    sent('/v2/send', 400, 'a long text', text('x'.repeat(60_000))),
    sent('/v2/send', 400, 'a long text of signs of the extension', text('€{'.repeat(16_000))),
    sent('/v2/send', 400, 'a long text of Hindi', text('नम'.repeat(10_000))),
    sent('/v2/send', 400, 'long params', {
      to,
      sender: SENDER,
      template_id: SLOTS_TEMPLATE,
      params: times(250, () => 'x'.repeat(230)),
    }),
    sent('/v2/send', 400, 'a number of 60,000 digits', `{"to":${'9'.repeat(60_000)}}`),
    sent('/v2/account/templates/check', 200, 'slots', { content: '{#var#}'.repeat(9_000) }),
    sent('/v2/account/templates/check', 200, 'half slots', { content: '{#'.repeat(30_000) }),
    sent('/v2/account/templates/check', 200, 'blanks in braces', { content: '{   #   '.repeat(8_000) }),
    sent('/v2/account/templates/check', 200, 'what is nearly a slot', { content: '{varvarvarvar '.repeat(4_600) }),
    sent('/v2/account/templates', 400, 'half slots and many senders', {
      name: 'x',
      senders: times(3_000, () => SENDER),
      category: 'transactional',
      content: '{#'.repeat(15_000),
    }),
    sent('/v2/chatapp/send', 400, 'params', {
      to,
      template: 'order',
      language: 'en',
      params: times(6_000, () => 'xxxxxx'),
    }),
    sent('/v2/chatapp/send-text', 400, 'a long text', { to, message: 'x '.repeat(30_000) }),
    sent('/v2/chatapp/send-buttons', 400, 'buttons', {
      to,
      message: 'x',
      buttons: times(1_500, (i) => ({ id: `b${i}`, title: 'yes' })),
    }),
    sent('/v2/chatapp/send-interactive', 400, 'rows', {
      ...{ to, type: 'list', body: 'x', button: 'x' },
      sections: times(1_200, (i) => ({ title: 'x', rows: [{ id: `r${i}`, title: 'x' }] })),
    }),
    sent('/v2/account/chatapp/templates', 400, 'variables', chatTemplate('{{1}} '.repeat(9_000))),
    sent('/v2/account/chatapp/templates', 400, 'braces', chatTemplate('{{'.repeat(30_000))),
    sent('/v2/account/webhooks', 400, 'a long address', { url: `https://${'a.'.repeat(30_000)}` }),
    sent('/v2/account/opt-outs', 400, 'a long number', { customer: '9'.repeat(60_000) }),
    sent('/v2/account/senders', 400, 'a long name', { sender: 'x'.repeat(60_000) }),
  ];
}

/** Ten-segment texts of an account with 5,000 nearly alike templates. */
export function worstTexts(): Worst[] {
  const sent = (what: string, message: string): Worst => ({
    what: `10 × a text against 5,000 templates: ${what}`,
    ...{ method: 'POST', path: '/v2/send', account: 'dlt', together: 10, status: 400 },
    body: JSON.stringify({ to: mobile(1), message, sender: SENDER, dry_run: true }),
  });
  return [
    sent('one letter', 'a'.repeat(1_530)),
    sent('all but the end', `${'aaaa '.repeat(300)}b`),
    sent('no likeness', 'q7 '.repeat(500)),
    sent('Hindi', 'नम'.repeat(330)),
    sent('web addresses', 'https://a.b/c '.repeat(109)),
  ];
}

/** Template files of 1 MB: bad rows, new ones, and differences from 5,000 registered templates. */
export function worstImports(): Worst[] {
  const sent = (what: string, text: string, more: Partial<Worst> = {}): Worst => {
    const file = text.slice(0, FILE_BYTES).match(/[\s\S]{1,24000}/g) ?? [];
    const body = { file: file.map((piece) => Buffer.from(piece).toString('base64')), dry_run: true };
    return {
      ...{ what: `an import: ${what}`, method: 'POST', path: '/v2/account/templates/import' },
      ...{ body: JSON.stringify(body), status: 400, together: 4, ...more },
    };
  };
  const head = 'id,header,content,status\n';
  const id = (i: number) => String(1_107_160_000_000_000_001n + BigInt(i));
  const changed = times(4_900, (i) => `${id(i)},${SENDER},${'{#var#}a'.repeat(20)},Blacklisted\n`);
  return [
    sent('one row', 'a,'.repeat(FILE_BYTES)),
    sent('rows', head + 'a,\n'.repeat(FILE_BYTES)),
    sent('as many bad rows as there may be', head + 'a,\n'.repeat(19_000), { status: 200 }),
    sent('quotation marks', head + '"'.repeat(FILE_BYTES)),
    sent('other texts and states', head + changed.join(''), { account: 'dlt', status: 200 }),
  ];
}

/** The longest files of links and numbers to register. */
export function worstCtas(): Worst[] {
  const sent = (what: string, line: (i: number) => string, status: 200 | 400 = 200): Worst => {
    const lines = times(2_000, line);
    const csv = lines.slice(0, Math.floor(CTA_FILE_BYTES / (Buffer.byteLength(lines.at(-1) ?? '') + 1))).join('\n');
    const body = JSON.stringify({ csv, dry_run: true });
    return { what: `a file of CTAs: ${what}`, method: 'POST', path: '/v2/account/ctas/import', body, status };
  };
  return [
    sent('links', (i) => `acme${i}.in/a/a/a/a/a`),
    sent('hosts in Hindi', (i) => `${'नमस्ते'.repeat(6)}${i}.भारत/${i}`),
    sent('numbers', (i) => `+${mobile(i)}`),
    sent('what is neither', (i) => `https://..${i}`, 400),
    sent('what nobody sees', () => '\u200b'.repeat(9), 400),
  ];
}
const CTA_FILE_BYTES = 60_000;

/** Many simultaneous paths and headers of 15 KB. */
export function worstAddresses(): Worst[] {
  const get = (status: Worst['status'], path: string, headers?: Readonly<Record<string, string>>): Worst => {
    const what = `20 × GET ${path.slice(0, 30)} ${Object.keys(headers ?? {})}`;
    return { what, method: 'GET', path, status, together: 20, ...(headers && { headers }) };
  };
  const names = times(2_400, (i) => `k${i}`).join('&');
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  return [
    get(400, `/v2/messages?${'a&'.repeat(7_500)}`),
    get(400, `/v2/messages?${names}`),
    get(400, `/v2/balance?${names}`),
    get(400, `/v2/messages?to=${'%25'.repeat(5_000)}`),
    get(400, `/v2/messages?cursor=${'A'.repeat(15_000)}`),
    get(400, `/v2/messages?created_from=${'2026-'.repeat(3_000)}`),
    get(404, `/v2/status/${'%41'.repeat(5_000)}`),
    get(404, `/${'a/'.repeat(7_500)}`),
    get(200, '/v2/balance', { cookie: 'a=b; '.repeat(3_000) }),
    get(200, '/v2/balance', { 'accept-encoding': 'gzip ; '.repeat(2_100) }),
    get(200, '/v2/balance', { 'x-request-id': 'a'.repeat(15_000) }),
    get(200, '/v2/balance', { 'x-forwarded-for': '1,'.repeat(7_500) }),
    get(401, '/v2/balance', bearer(`${' '.repeat(15_000)}x x`)),
    get(401, '/v2/balance', bearer(`hk_live_${'_a'.repeat(7_500)}`)),
    get(200, '/docs'),
  ];
}

/** The most expensive lists and files, with much stored. */
export function worstReads({ batch, customer }: { readonly batch: BatchId; readonly customer: string }): Worst[] {
  const get = (path: string, account: Worst['account'] = 'checking', together = 1): Worst => ({
    ...{ what: `${together} × GET ${path.replace(batch, '…')}`, method: 'GET', path, account, together, status: 200 },
  });
  return [
    get(`/v2/batches/${batch}/failures?format=csv`, 'checking', 20),
    get(`/v2/account/inbox/${customer}?limit=500`, 'checking', 20),
    get('/v2/templates', 'dlt', 20),
    get(`/v2/batches/${batch}/failures?format=csv`),
    get(`/v2/batches/${batch}/failures?limit=500`),
    get(`/v2/batches/${batch}`),
    get('/v2/batches?limit=500'),
    get('/v2/messages?limit=500'),
    get('/v2/messages?limit=500&reference=none'),
    get('/v2/events?limit=500'),
    get('/v2/account/inbox?limit=500'),
    get(`/v2/account/inbox/${customer}?limit=500`),
    get('/v2/account/opt-outs?limit=500'),
    get('/v2/account/statistics'),
    get('/v2/account/overview'),
    get('/v2/ledger?limit=500'),
    get('/v2/ledger.csv'),
    get(`/v2/account/statements/${new Date().toISOString().slice(0, 7)}`),
    get('/v2/templates', 'dlt'),
    get('/v2/account/templates?limit=500', 'dlt'),
    get('/v2/account/untagged-templates', 'dlt'),
    get('/v2/account/untagged-templates', 'alike'),
  ];
}

/** Provider posts of 3 MB, genuine and forged. */
export function worstCallbacks({ callback }: { readonly callback: string }): Worst[] {
  const sent = (status: Worst['status'], what: string, body: string, signature = callbackSignature(body)): Worst => ({
    ...{ what: `a callback: ${what}`, method: 'POST', path: callback, body, status },
    headers: { 'X-Hub-Signature-256': signature },
  });
  const message = (i: number, body: string) => ({
    ...{ from: mobile(i), id: `wamid.${i}`, timestamp: '1790000000', type: 'text', text: { body } },
  });
  const messages = (body: string, more: object = {}) => {
    const one = JSON.stringify(message(RECIPIENTS, body)).length + 1;
    const count = Math.floor((CALLBACK_BYTES - JSON.stringify(more).length - 1_000) / one);
    return JSON.stringify(
      callbackPost({ messages: [{ ...message(0, ''), ...more }, ...times(count, (i) => message(1 + i, body))] }),
    );
  };
  return [
    sent(401, 'nobody signed it', 'x'.repeat(CALLBACK_BYTES), `sha256=${'0'.repeat(64)}`),
    sent(200, 'small messages', messages('x')),
    sent(200, 'large messages', messages('x'.repeat(60_000))),
    sent(200, 'a message of many values', messages('x', { x: times(200_000, () => 1) })),
    sent(200, 'many changes', `{"entry":[${'{},'.repeat(240_000)}{}]}`),
    sent(400, 'as many levels as values may be', '['.repeat(499_000)),
    sent(400, 'as many values as may be', `{"a":[${'[],'.repeat(240_000)}`),
  ];
}
