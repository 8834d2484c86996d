import type { Answered, ChatContent } from '../../../../shared/messages/document/chat-message.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import type { CodeDraft } from '../../../../shared/templates/chat/chat-template.ts';
import { sendPayload } from '../../../../workers/chatapp/provider/payload.ts';
import { templatePayload } from '../../../../workers/chatapp/provider/template-request.ts';

interface Sample {
  /** The documentation page with this sample (without `to`), or the content as v23 shows it. */
  readonly page: string;
  readonly content: ChatContent;
  readonly json: object;
}

const WAMID = 'wamid.HBgLMTY0NjcwNDM1OTUVAgASGBQzQTdCNTg5RjY1MEMyRjlGMjRGNgA=';
const ANSWERED: Answered = { message: newId('msg'), upstreamId: WAMID };

/** Our requests have a list's sections in the provider's form. */
const SECTIONS = [
  {
    title: 'I want it ASAP!',
    rows: [
      { id: 'priority_express', title: 'Priority Mail Express', description: 'Next Day to 2 Days' },
      { id: 'priority_mail', title: 'Priority Mail', description: '1–3 Days' },
    ],
  },
  {
    title: 'I can wait a bit',
    rows: [
      { id: 'first_class_mail', title: 'First-Class Mail', description: '2–5 Days' },
      { id: 'media_mail', title: 'Media Mail' },
    ],
  },
];

const SAMPLES: readonly Sample[] = [
  {
    page: 'Interactive list messages',
    content: {
      ...{ kind: 'interactive', type: 'list' },
      header: { kind: 'text', text: 'Choose Shipping Option' },
      ...{ body: 'Which shipping option do you prefer?', footer: 'Lucky Shrub: Your gateway to succulents™' },
      action: {
        button: 'Shipping Options',
        sections: SECTIONS,
      },
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'list',
        header: { type: 'text', text: 'Choose Shipping Option' },
        body: { text: 'Which shipping option do you prefer?' },
        footer: { text: 'Lucky Shrub: Your gateway to succulents™' },
        action: {
          button: 'Shipping Options',
          sections: SECTIONS,
        },
      },
    },
  },
  {
    page: 'Interactive reply buttons messages',
    content: {
      kind: 'buttons',
      header: { kind: 'image', url: 'https://www.luckyshrub.com/banner.jpg' },
      body: 'Hi Pablo! Your gardening workshop is scheduled for 9am tomorrow.',
      footer: 'Lucky Shrub: Your gateway to succulents!™',
      buttons: [
        { id: 'change-button', title: 'Change' },
        { id: 'cancel-button', title: 'Cancel' },
      ],
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'button',
        header: { type: 'image', image: { link: 'https://www.luckyshrub.com/banner.jpg' } },
        body: { text: 'Hi Pablo! Your gardening workshop is scheduled for 9am tomorrow.' },
        footer: { text: 'Lucky Shrub: Your gateway to succulents!™' },
        action: {
          buttons: [
            { type: 'reply', reply: { id: 'change-button', title: 'Change' } },
            { type: 'reply', reply: { id: 'cancel-button', title: 'Cancel' } },
          ],
        },
      },
    },
  },
  {
    page: 'Interactive Call-to-Action URL button messages',
    content: {
      ...{ kind: 'interactive', type: 'url' },
      header: { kind: 'document', url: 'https://www.luckyshrub.com/dates.pdf', filename: 'dates.pdf' },
      ...{ body: 'Tap the button below to see available dates.', footer: 'Dates subject to change.' },
      action: {
        button: 'See Dates',
        url: 'https://www.luckyshrub.com?clickID=kqDGWd24Q5TRwoEQTICY7W1JKoXvaZOXWAS7h1P76s0R7Paec4',
      },
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'cta_url',
        header: {
          type: 'document',
          document: { link: 'https://www.luckyshrub.com/dates.pdf', filename: 'dates.pdf' },
        },
        body: { text: 'Tap the button below to see available dates.' },
        footer: { text: 'Dates subject to change.' },
        action: {
          name: 'cta_url',
          parameters: {
            display_text: 'See Dates',
            url: 'https://www.luckyshrub.com?clickID=kqDGWd24Q5TRwoEQTICY7W1JKoXvaZOXWAS7h1P76s0R7Paec4',
          },
        },
      },
    },
  },
  {
    page: 'Location request messages',
    content: {
      ...{ kind: 'interactive', type: 'location_request' },
      body: "Let's start with your pickup. You can either manually *enter an address* or *share your current location*.",
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'location_request_message',
        body: {
          text: "Let's start with your pickup. You can either manually *enter an address* or *share your current location*.",
        },
        action: { name: 'send_location' },
      },
    },
  },
  {
    page: 'Request contact info',
    content: {
      ...{ kind: 'interactive', type: 'contact_request' },
      body: 'Please share your phone number so we can finish your request.',
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'request_contact_info',
        body: { text: 'Please share your phone number so we can finish your request.' },
        action: { name: 'request_contact_info' },
      },
    },
  },
  {
    page: 'Sending a Flow',
    content: {
      ...{ kind: 'interactive', type: 'flow' },
      header: { kind: 'text', text: 'Flow message header' },
      ...{ body: 'Flow message body', footer: 'Flow message footer' },
      action: {
        button: 'Book!',
        flow: { id: '1' },
        token: 'AQAAAAACS5FpgQ_cAAAAAD0QI3s.',
        screen: 'FIRST',
        data: { product_name: 'name' },
      },
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'flow',
        header: { type: 'text', text: 'Flow message header' },
        body: { text: 'Flow message body' },
        footer: { text: 'Flow message footer' },
        action: {
          name: 'flow',
          parameters: {
            flow_message_version: '3',
            flow_token: 'AQAAAAACS5FpgQ_cAAAAAD0QI3s.',
            flow_id: '1',
            flow_cta: 'Book!',
            flow_action: 'navigate',
            flow_action_payload: { screen: 'FIRST', data: { product_name: 'name' } },
          },
        },
      },
    },
  },
  {
    page: 'Single-product messages',
    content: {
      ...{ kind: 'interactive', type: 'product', body: 'Ordered by many.', footer: 'Lucky Shrub' },
      action: { catalog: '367025965434465', product: 'sku-1' },
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'product',
        body: { text: 'Ordered by many.' },
        footer: { text: 'Lucky Shrub' },
        action: { catalog_id: '367025965434465', product_retailer_id: 'sku-1' },
      },
    },
  },
  {
    page: 'Multi-product messages',
    content: {
      ...{ kind: 'interactive', type: 'product_list' },
      ...{ header: { kind: 'text', text: 'Our bestsellers' }, body: 'Have a look.' },
      action: {
        catalog: '146265584024623',
        sections: [
          { title: 'Popular', products: ['sku-1', 'sku-2'] },
          { title: 'New', products: ['sku-3'] },
        ],
      },
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'product_list',
        header: { type: 'text', text: 'Our bestsellers' },
        body: { text: 'Have a look.' },
        action: {
          catalog_id: '146265584024623',
          sections: [
            {
              title: 'Popular',
              product_items: [{ product_retailer_id: 'sku-1' }, { product_retailer_id: 'sku-2' }],
            },
            { title: 'New', product_items: [{ product_retailer_id: 'sku-3' }] },
          ],
        },
      },
    },
  },
  {
    page: 'Catalog messages',
    content: {
      ...{ kind: 'interactive', type: 'catalog' },
      body: 'Hello! Thanks for your interest. Ordering is easy. Just visit our catalog and add items to purchase.',
      footer: 'Best grocery deals on WhatsApp!',
      action: { product: '2lc20305pt' },
    },
    json: {
      type: 'interactive',
      interactive: {
        type: 'catalog_message',
        body: {
          text: 'Hello! Thanks for your interest. Ordering is easy. Just visit our catalog and add items to purchase.',
        },
        footer: { text: 'Best grocery deals on WhatsApp!' },
        action: { name: 'catalog_message', parameters: { thumbnail_product_retailer_id: '2lc20305pt' } },
      },
    },
  },
  {
    page: 'Location messages',
    content: {
      kind: 'location',
      location: {
        ...{ latitude: '37.4421625', longitude: '-122.1615358' },
        ...{ name: 'Philz Coffee', address: '101 Forest Ave, Palo Alto, CA 94301' },
      },
    },
    json: {
      type: 'location',
      location: {
        latitude: '37.4421625',
        longitude: '-122.1615358',
        name: 'Philz Coffee',
        address: '101 Forest Ave, Palo Alto, CA 94301',
      },
    },
  },
  {
    page: 'Contacts messages',
    content: {
      kind: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Barbara J. Johnson', first_name: 'Barbara', last_name: 'Johnson' },
          phones: [{ phone: '+16505559999', type: 'Landline', wa_id: '19175559999' }],
          org: { company: 'Social Tsunami', title: 'Lead Counsel' },
          birthday: '1999-01-23',
        },
      ],
    },
    json: {
      type: 'contacts',
      contacts: [
        {
          name: { formatted_name: 'Barbara J. Johnson', first_name: 'Barbara', last_name: 'Johnson' },
          phones: [{ phone: '+16505559999', type: 'Landline', wa_id: '19175559999' }],
          org: { company: 'Social Tsunami', title: 'Lead Counsel' },
          birthday: '1999-01-23',
        },
      ],
    },
  },
  {
    page: 'Reaction messages',
    content: { kind: 'reaction', emoji: '\u{1f600}', reactsTo: ANSWERED },
    json: { type: 'reaction', reaction: { message_id: WAMID, emoji: '\u{1f600}' } },
  },
  {
    page: 'a text',
    content: { kind: 'text', text: 'hi' },
    json: { type: 'text', text: { body: 'hi', preview_url: false } },
  },
  {
    page: 'a template with values',
    content: { kind: 'template', name: 'order_update', language: 'en_US', params: ['Asha', '#1234'] },
    json: {
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
    page: 'a template without variables, which has no components',
    content: { kind: 'template', name: 'hello_world', language: 'en', params: [] },
    json: { type: 'template', template: { name: 'hello_world', language: { code: 'en', policy: 'deterministic' } } },
  },
  {
    page: 'an image with its caption',
    content: { kind: 'media', type: 'image', url: 'https://example.com/i.jpg', caption: 'Invoice' },
    json: { type: 'image', image: { link: 'https://example.com/i.jpg', caption: 'Invoice' } },
  },
  {
    page: 'a document without one, with the name that its link has',
    content: { kind: 'media', type: 'document', url: 'https://example.com/invoices/0815.pdf?key=1' },
    json: { type: 'document', document: { link: 'https://example.com/invoices/0815.pdf?key=1', filename: '0815.pdf' } },
  },
  {
    page: 'a document whose link has no name',
    content: { kind: 'media', type: 'document', url: 'https://example.com/invoices/0815', caption: 'Invoice' },
    json: {
      type: 'document',
      document: { link: 'https://example.com/invoices/0815', filename: 'document.pdf', caption: 'Invoice' },
    },
  },
  {
    page: 'audio',
    content: { kind: 'media', type: 'audio', url: 'https://example.com/a.mp3' },
    json: { type: 'audio', audio: { link: 'https://example.com/a.mp3' } },
  },
  {
    page: 'a sticker',
    content: { kind: 'media', type: 'sticker', url: 'https://example.com/s.webp' },
    json: { type: 'sticker', sticker: { link: 'https://example.com/s.webp' } },
  },
  {
    page: 'buttons',
    content: {
      kind: 'buttons',
      body: 'Confirm?',
      buttons: [
        { id: 'yes', title: 'Yes' },
        { id: 'no', title: 'No' },
      ],
    },
    json: {
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

describe('sendPayload, against the samples of the provider’s documentation', () => {
  const payloadOf = (content: ChatContent, replyTo?: Answered, to = '16505551234') => {
    const _id = newId('msg');
    const message = { _id, to, content, ...(replyTo && { replyTo }) };
    const { biz_opaque_callback_data: opaque, ...payload } = JSON.parse(sendPayload(message).toString('utf8'));
    expect(opaque).to.equal(_id);
    return payload;
  };
  const USER_ID = 'US.13491208655302741918';
  const HEAD = { messaging_product: 'whatsapp', recipient_type: 'individual', to: '+16505551234' };

  for (const { page, content, json } of SAMPLES) {
    it(page, () => {
      expect(payloadOf(content)).to.deep.equal({ ...HEAD, ...json });
      const { to: _, ...nameless } = { ...HEAD, recipient: USER_ID, ...json };
      expect(payloadOf(content, undefined, USER_ID), 'to who shows no number').to.deep.equal(nameless);
    });
  }

  it('Contextual replies', () => {
    expect(payloadOf({ kind: 'text', text: "You're welcome, Pablo!" }, ANSWERED)).to.deep.equal({
      ...HEAD,
      context: { message_id: WAMID },
      type: 'text',
      text: { preview_url: false, body: "You're welcome, Pablo!" },
    });
  });
});

it('templatePayload has the members of the sample of "Zero-tap authentication templates"', () => {
  const code: CodeDraft = {
    ...{ type: 'zero_tap', securityAdvice: true, expiresMinutes: 5, ttlSeconds: 60 },
    ...{ buttonText: 'Copy Code', autofillText: 'Autofill', termsAccepted: true },
    apps: [{ package_name: 'com.example.luckyshrub', signature_hash: 'K8a/AINcGX7' }],
  };
  const draft = {
    category: 'authentication',
    components: { buttons: [] },
    examples: { body: [], buttons: [] },
    code,
  } as const;
  const head = { name: 'zero_tap_auth_template', language: 'en_US', category: draft.category };

  expect(JSON.parse(templatePayload(draft, head).toString('utf8'))).to.deep.equal({
    name: 'zero_tap_auth_template',
    language: 'en_US',
    category: 'AUTHENTICATION',
    message_send_ttl_seconds: 60,
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 5 },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'OTP',
            otp_type: 'ZERO_TAP',
            text: 'Copy Code',
            autofill_text: 'Autofill',
            zero_tap_terms_accepted: true,
            supported_apps: [{ package_name: 'com.example.luckyshrub', signature_hash: 'K8a/AINcGX7' }],
          },
        ],
      },
    ],
  });
});
