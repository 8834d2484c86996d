import type { EndpointRow } from './endpoint.ts';

/** "Endpoints", chat-app channel. */
export const CHATAPP_ENDPOINTS: readonly EndpointRow[] = [
  {
    method: 'POST',
    path: '/v2/chatapp/send',
    request: 'template message',
    response: 'template result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'POST',
    path: '/v2/chatapp/send-text',
    request: 'text message',
    response: 'chat-app result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'POST',
    path: '/v2/chatapp/send-media',
    request: 'media message',
    response: 'media result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'POST',
    path: '/v2/chatapp/send-buttons',
    request: 'button message',
    response: 'chat-app result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'GET',
    path: '/v2/chatapp/templates',
    request: 'none',
    response: 'Chat-app template list',
    extras: [],
    scopes: [['read']],
    charged: false,
  },
  {
    method: 'POST',
    path: '/v2/chatapp/webhook',
    request: 'Webhook configuration',
    response: 'Webhook configuration result',
    extras: ['secret'],
    scopes: [['manage'], ['send', 'read']],
    charged: false,
  },
];
