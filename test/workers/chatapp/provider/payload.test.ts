import { expect } from 'chai';
import type { ChatContent } from '../../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { sendPayload } from '../../../../workers/chatapp/provider/payload.ts';

const TO = '+6591234567';

/** Contents with the JSON that the Cloud API's documentation (v23) shows for them. */
const CASES: readonly { readonly name: string; readonly content: ChatContent; readonly json: object }[] = [
  {
    name: 'a text',
    content: { kind: 'text', text: 'hi' },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'text',
      text: { body: 'hi', preview_url: false },
    },
  },
  {
    name: 'a template with values',
    content: { kind: 'template', name: 'order_update', language: 'en_US', params: ['Asha', '#1234'] },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'template',
      template: {
        name: 'order_update',
        language: { code: 'en_US', policy: 'deterministic' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Asha' },
              { type: 'text', text: '#1234' },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'a template without variables, which has no components',
    content: { kind: 'template', name: 'hello_world', language: 'en', params: [] },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'template',
      template: { name: 'hello_world', language: { code: 'en', policy: 'deterministic' } },
    },
  },
  {
    name: 'an image with its caption',
    content: { kind: 'media', type: 'image', url: 'https://example.com/i.jpg', caption: 'Invoice' },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'image',
      image: { link: 'https://example.com/i.jpg', caption: 'Invoice' },
    },
  },
  {
    name: 'a document without one, with the name that its link has',
    content: { kind: 'media', type: 'document', url: 'https://example.com/invoices/0815.pdf?key=1' },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'document',
      document: { link: 'https://example.com/invoices/0815.pdf?key=1', filename: '0815.pdf' },
    },
  },
  {
    name: 'a document whose link has no name',
    content: { kind: 'media', type: 'document', url: 'https://example.com/invoices/0815', caption: 'Invoice' },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'document',
      document: { link: 'https://example.com/invoices/0815', filename: 'document.pdf', caption: 'Invoice' },
    },
  },
  {
    name: 'audio',
    content: { kind: 'media', type: 'audio', url: 'https://example.com/a.mp3' },
    json: { messaging_product: 'whatsapp', to: TO, type: 'audio', audio: { link: 'https://example.com/a.mp3' } },
  },
  {
    name: 'a sticker',
    content: { kind: 'media', type: 'sticker', url: 'https://example.com/s.webp' },
    json: { messaging_product: 'whatsapp', to: TO, type: 'sticker', sticker: { link: 'https://example.com/s.webp' } },
  },
  {
    name: 'buttons',
    content: {
      kind: 'buttons',
      body: 'Confirm?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No' },
      ],
    },
    json: {
      messaging_product: 'whatsapp',
      to: TO,
      type: 'interactive',
      interactive: {
        type: 'button',
        body: { text: 'Confirm?' },
        action: {
          buttons: [
            { type: 'reply', reply: { id: 'yes', title: 'Yes' } },
            { type: 'reply', reply: { id: 'no', title: 'No' } },
          ],
        },
      },
    },
  },
];

describe('sendPayload', () => {
  for (const { name, content, json } of CASES) {
    it(`has the provider's shape for ${name}, and our message id`, () => {
      const id = newId('msg');

      const payload = JSON.parse(sendPayload({ _id: id, to: '6591234567', content }).toString('utf8'));

      expect(payload).to.deep.equal({ ...json, recipient_type: 'individual', biz_opaque_callback_data: id });
    });

    it(`names a customer without a number as its recipient, for ${name}`, () => {
      const payload = JSON.parse(
        sendPayload({ _id: newId('msg'), to: 'US.13491208655302741918', content }).toString('utf8'),
      );

      expect(payload).to.include({ recipient: 'US.13491208655302741918' });
      expect(payload).not.to.have.property('to');
    });
  }
});
