import type { HttpMessage } from './http-carrier.ts';
import type { ReceivedMail } from './mailbox.ts';
import type { ProviderEvent } from './provider/options.ts';
import type { ReceivedWebhook } from './receiver/received.ts';
import { alphabetOf } from './smpp/text.ts';
import type { SmscEvent } from './smsc/options.ts';

/** The most characters of a text or body that are shown on one line of a terminal. */
const MAX_CHARACTERS = 300;

/** One post as a line for people: `10:00:00 webhook message.delivered msg_1 · signature valid · answered 200 · {…}` */
export function webhookLine(post: ReceivedWebhook): string {
  const event = typeof post.json.event === 'string' ? post.json.event : post.path;
  const message = typeof post.json.message_id === 'string' ? ` ${post.json.message_id}` : '';
  const again = post.tries > 1 ? ` · again (try ${post.tries})` : '';
  const answered = post.status === 0 ? 'connection broken' : `answered ${post.status}`;
  const verdict = {
    valid: 'signature valid',
    INVALID: 'SIGNATURE INVALID',
    unsigned: 'unsigned',
    'no secret': 'signed, no secret to check it',
  };
  return `${clock(post.at)} webhook ${clean(event)}${clean(message)}${again} · ${verdict[post.signature]} · ${answered} · ${clean(post.body)}`;
}

export function mailLine({ at, to, subject, text }: ReceivedMail): string {
  return `${clock(at)} mail    to ${clean(to.join(', '))}: ${clean(subject)} · ${clean(text)}`;
}

export function httpMessageLine({ to, from, body }: HttpMessage): string {
  return `${clock(Date.now())} http    ${clean(from)} → ${clean(to)}: ${clean(body)}`;
}

export function smscLine(event: SmscEvent): string {
  const now = clock(Date.now());
  switch (event.kind) {
    case 'bound':
      return `${now} smpp    ${clean(event.systemId)} bound as ${event.as} (session ${event.sessionId})`;
    case 'unbound':
      return `${now} smpp    ${clean(event.systemId)} gone (session ${event.sessionId})`;
    case 'bind-refused':
      return `${now} smpp    bind of ${clean(event.systemId)} refused, 0x${event.status.toString(16).padStart(2, '0')}`;
    case 'bad-frame':
      return `${now} smpp    BAD PDU on session ${event.sessionId}: ${event.what}`;
    case 'text': {
      const { from, to, text, parts } = event.text;
      const alphabet = alphabetOf(parts[0]?.dataCoding ?? 0);
      return `${now} sms     ${clean(from)} to ${clean(to)} (${alphabet}, ${parts.length} part${parts.length > 1 ? 's' : ''}): ${clean(text)}`;
    }
  }
}

export function providerLine(event: ProviderEvent): string {
  const now = clock(Date.now());
  switch (event.kind) {
    case 'taken':
      return `${now} chatapp ${clean(event.send.type)} to ${clean(event.send.to)}: ${clean(JSON.stringify(event.send.body[event.send.type] ?? {}))}`;
    case 'refused':
      return `${now} chatapp send to ${clean(event.to)} refused, error ${event.code}`;
    case 'says':
      return `${now} chatapp ${clean(event.from)} writes: ${clean(event.text)}`;
    case 'read':
      return `${now} chatapp ${clean(event.id)} is marked as read${event.typing ? ', somebody types' : ''}`;
    case 'template':
      return `${now} chatapp template ${clean(event.name)} is ${event.status}`;
    case 'callback-failed':
      return `${now} chatapp callback answered ${event.status} (try ${event.tries})`;
  }
}

function clock(time: number): string {
  return new Date(time).toTimeString().slice(0, 8);
}

/** Puts the text on one line without characters that control a terminal. */
function clean(text: string): string {
  const shown = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return shown.replaceAll(/\s/g, ' ').replaceAll(/[\p{Cc}\p{Cf}]/gu, '�');
}
