import { sendProblem } from '../../../http/answer.ts';
import type { Reply } from '../../../http/context.ts';
import type { NoFile } from './judge.ts';

const REFUSED =
  'The chat-app provider does not hand out files of this account. Ask your service provider to correct its settings.';

/** Why a file may not be handed on, by code. */
const UNUSABLE: Readonly<Record<string, string>> = {
  address_not_allowed: 'The provider named an address for the file that is private, reserved, or not https.',
  content_coding: 'The provider sent the file compressed, which was not asked for.',
  redirect: 'The address of the file leads to another one, which is not followed.',
  too_large: 'The file has more than 100 MB.',
};

const RETRY_AFTER_S = 5;

/** Answers why there is no file, and what the caller can do about it. */
export function sendNoFile(res: Reply, { kind, code, retryAfterS = RETRY_AFTER_S }: NoFile): void {
  const headers = ['Retry-After', String(retryAfterS)];
  if (kind === 'gone') sendProblem(res, 'file_gone');
  else if (kind === 'refused') sendProblem(res, 'chatapp_stopped', { detail: REFUSED });
  else if (kind === 'later') sendProblem(res, 'provider_unavailable', { headers });
  else {
    const why = UNUSABLE[code] ?? 'The address of the file did not answer with a file.';
    sendProblem(res, 'file_unusable', { detail: `${why} Report the \`request_id\` to your service provider.` });
  }
}
