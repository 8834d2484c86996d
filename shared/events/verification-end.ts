import type { VerificationDocument, VerificationOutcome } from '../messages/document/verification.ts';
import { isoTimestamp } from '../platform/runtime/clock.ts';
import { isTestAccount } from '../platform/runtime/ids.ts';

/** A code was given back, or cannot be any more. */
export interface VerificationEnd {
  readonly verification: VerificationDocument;
  readonly outcome: VerificationOutcome;
  readonly at: Date;
}

export function verificationBody(event: string, { verification, outcome, at }: VerificationEnd): object {
  const { _id, account, to, attempts, message, reference, channel } = verification;
  return {
    ...{ event, verification_id: _id, to, state: outcome, attempts, message_id: message, reference },
    ...{ timestamp: isoTimestamp(at), channel },
    ...(isTestAccount(account) && { test: true }),
  };
}
