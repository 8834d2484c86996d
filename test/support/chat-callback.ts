import { createHmac } from 'node:crypto';

/** A callback post of the WhatsApp Cloud API, written from its documentation ("Webhooks"), not from our types. */
export function callbackPost(value: object, phoneNumberId = '1055', field = 'messages'): object {
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: '2055',
        changes: [
          {
            field,
            value: {
              messaging_product: 'whatsapp',
              metadata: { display_phone_number: '918000000001', phone_number_id: phoneNumberId },
              ...value,
            },
          },
        ],
      },
    ],
  };
}

export function textMessage(id: string, from = '919876543210', at = new Date()): object {
  return { from, id, timestamp: seconds(at), type: 'text', text: { body: 'hi' } };
}

export function statusOf(id: string, status: string, at = new Date()): object {
  return { id, status, timestamp: seconds(at), recipient_id: '919876543210' };
}

export function seconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1000));
}

/** The header `X-Hub-Signature-256`. */
export function callbackSignature(body: string | Buffer, appSecret = 'app-secret'): string {
  return `sha256=${createHmac('sha256', appSecret).update(body).digest('hex')}`;
}
