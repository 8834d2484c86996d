import { relative } from 'node:path';
import { type Config, gatewayUrl, publicUrl } from '../../shared/platform/config/settings.ts';
import type { RunFiles } from './run.ts';
import type { Demo } from './seed.ts';

export function receiverUrl(config: Pick<Config, 'simulatorWebhookPort'>): string {
  return `http://127.0.0.1:${config.simulatorWebhookPort}`;
}

/** Shown when everything runs: one screen with what is needed to send the first message. */
export function greeting(config: Config, demo: Demo): string {
  const { api, get, post } = requests(config);
  return `
Harkara runs.

  API         ${api}/docs
  Dashboard   ${publicUrl(config)}/dashboard
              sign in as ${demo.owner.username}; ${demo.owner.hasPassword ? 'a new password' : 'choose a password first'}: ${demo.owner.link}
  Account     ${demo.account._id} with ${demo.balance} credits

Send a message, and ask for its status (put in the message_id of the answer):

  export HARKARA_URL=${api} HARKARA_KEY=${demo.key}
  ${post('/v2/send', '{"to":"919876543210","message":"Hello from Harkara","sender":"HARKRA","route":"transactional"}')}
  ${get('/v2/status/MESSAGE_ID')}

The chat app, numbers that fail, mails, logs: npm start -- --more
Ctrl-C stops everything. What the carrier, the provider and the webhook receiver see:
`;
}

/** Shown above the greeting with `--more`. */
export function more(config: Config, files: RunFiles, demo: Demo): string {
  const { post } = requests(config);
  const store = config.mongodbUri === '' ? `embedded, in ${shown(files.dataDir)}` : 'MongoDB (HARKARA_MONGODB_URI)';
  return `
What runs:

  Store       ${store}
  Carrier     simulated, SMPP on 127.0.0.1:${config.simulatorSmscPort}
  Chat-app    simulated provider on ${demo.providerUrl}
  Webhooks    to the receiver, shown below and on ${receiverUrl(config)}/
  Mail        ${config.smtpPort === config.simulatorMailPort ? `none is sent: what would be is shown below and on ${receiverUrl(config)}/mails` : `by ${config.smtpHost}`}
  Logs        ${shown(files.logs)}

With the HARKARA_KEY below, over the chat-app channel: a template, one with an image and buttons, a button that the customer presses:

  ${post('/v2/chatapp/send', '{"to":"919876543210","template":"order_update","language":"en_US","params":["Asha","1234"]}')}
  ${post('/v2/chatapp/send', SHIPPED)}
  curl -s ${demo.providerUrl}/customers/919876543210/presses -d 'Where is it?'

What the customer writes, a text while the session is open, and one where it is not:

  curl -s ${demo.providerUrl}/customers/919876543210/says -d 'Where is it now?'
  ${post('/v2/chatapp/send-text', '{"to":"919876543210","message":"It arrives tomorrow."}')}
  ${post('/v2/chatapp/send-text', '{"to":"919876500000","message":"Refused: this customer has not written."}')}

The last digits of "to" choose what happens: 101 fails, 102 expires, 103 is rejected, 104 is delivered late,
108 is refused at submit; all of them are in docs/magic-numbers.md. By hand: npm run ops -- --help
`;
}

/** curl commands for a shell with HARKARA_KEY set. */
function requests(config: Config) {
  const api = gatewayUrl(config);
  const get = (path: string) => `curl -s ${api}${path} -H "Authorization: Bearer $HARKARA_KEY"`;
  return {
    api,
    get,
    post: (path: string, body: string) => `${get(path)} -H 'Content-Type: application/json' -d '${body}'`,
  };
}

/** A template with an image header, two body values and a link suffix (scripts/simulator/provider/templates.ts). */
const SHIPPED =
  '{"to":"919876543210","template":"order_shipped","language":"en_US","params":["https://media.example.com/parcel.jpg","Asha","1234","1234"],"buttons":[{"payload":"WHERE-1234"},{"payload":"CALL-1234"}]}';

function shown(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}
