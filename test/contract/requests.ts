import type { Answer, Client } from './client.ts';
import type { EndpointRow } from './tables/endpoint.ts';
import type { World } from './world.ts';

/** A body with all fields of the row and no others. */
export function goodBody({ path }: Pick<EndpointRow, 'path'>, customer: string): Readonly<Record<string, unknown>> {
  const sms = { message: 'Your order has left.', sender: 'HARKRA' };
  switch (path) {
    case '/v2/send':
      return { to: '919876500921', ...sms, route: 'transactional' };
    case '/v2/send-bulk':
      return { to: ['919876500922', '919876500923', '919876500924'], ...sms, route: 'transactional' };
    case '/v2/schedule':
      return { to: '919876500925', ...sms, schedule_time: inHours(2) };
    case '/v2/chatapp/send':
      return { to: customer, template: 'order_update', language: 'en_US', params: ['Asha', '1234'] };
    case '/v2/chatapp/send-text':
      return { to: customer, message: 'It has left.' };
    case '/v2/chatapp/send-media':
      return { to: customer, type: 'image', url: 'https://127.0.0.1/parcel.jpg', caption: 'Your parcel' };
    case '/v2/chatapp/send-buttons':
      return { to: customer, body: 'Is that right?', buttons: [{ id: 'yes', title: 'Yes' }] };
    case '/v2/chatapp/webhook':
      return { url: 'http://127.0.0.1:9/contract', events: ['message.received', 'message.read'] };
    default:
      throw new Error(`${path} takes no body`);
  }
}

export function inHours(hours: number): string {
  const local = new Date(Date.now() + hours * 3_600_000 + OFFSET_MS).toISOString();
  return `${local.slice(0, 'YYYY-MM-DDThh:mm:ss'.length)}+05:30`;
}

const OFFSET_MS = 5.5 * 3_600_000;

/** The row's path with an id that exists, taken from an answer as a caller would. */
export async function goodPath(row: EndpointRow, world: World): Promise<string> {
  if (row.path.includes('{message_id}')) return row.path.replace('{message_id}', world.deliveredId);
  if (!row.path.includes('{schedule_id}')) return row.path;
  const body = goodBody({ path: '/v2/schedule' }, world.customer);
  const booked = await world.client.call({ method: 'POST', path: '/v2/schedule', key: world.key, body });
  return row.path.replace('{schedule_id}', String(booked.body.schedule_id));
}

/** Sends a valid request of the row, with any key. */
export async function callRow(row: EndpointRow, world: World, key: string | undefined): Promise<Answer> {
  const customer = key === world.poorKey ? world.poorCustomer : world.customer;
  return world.client.call({
    method: row.method,
    path: await goodPath(row, world),
    key,
    ...(row.request === 'none' ? {} : { body: goodBody(row, customer) }),
  });
}

export function callWith(client: Client, row: EndpointRow, key: string, body: unknown): Promise<Answer> {
  return client.call({ method: row.method, path: row.path, key, body });
}
