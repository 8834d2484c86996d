import type { EndpointRow } from './endpoint.ts';

export const SMS_ENDPOINTS: readonly EndpointRow[] = [
  {
    method: 'POST',
    path: '/v2/send',
    request: 'SMS message',
    response: 'SMS send result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'POST',
    path: '/v2/send-bulk',
    request: 'Bulk SMS request',
    response: 'Bulk SMS result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'POST',
    path: '/v2/schedule',
    request: 'Scheduled message',
    response: 'Scheduled message result',
    extras: [],
    scopes: [['send']],
    charged: true,
  },
  {
    method: 'GET',
    path: '/v2/status/{message_id}',
    request: 'none',
    response: 'Delivery status record',
    extras: ['reference', 'error_code', 'error_reason', 'outcome', 'segments', 'timeline'],
    scopes: [['read']],
    charged: false,
  },
  {
    method: 'GET',
    path: '/v2/balance',
    request: 'none',
    response: 'Balance record',
    extras: [],
    scopes: [['read']],
    charged: false,
  },
  {
    method: 'GET',
    path: '/v2/templates',
    request: 'none',
    response: 'DLT template list',
    extras: [],
    scopes: [['read']],
    charged: false,
  },
  {
    method: 'DELETE',
    path: '/v2/schedule/{schedule_id}',
    request: 'none',
    response: 'Cancel result',
    extras: [],
    scopes: [['send']],
    charged: false,
  },
];

/** Methods that decisions.md adds to paths of the table. */
export const EXTENSIONS: readonly { readonly method: string; readonly path: string }[] = [
  { method: 'GET', path: '/v2/schedule/{schedule_id}' },
];
