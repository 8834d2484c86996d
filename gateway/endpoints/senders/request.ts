import type { SenderDocument } from '../../../shared/carriers/sender.ts';
import { createSender, findSender, findSenderById, SenderExists } from '../../../shared/carriers/sender-store.ts';
import type { Route } from '../../../shared/messages/document/message.ts';
import { QuotaReached } from '../../../shared/money/accounts/quotas.ts';
import { newId, type SenderId } from '../../../shared/platform/runtime/ids.ts';
import { changeAudited } from '../../http/audited.ts';
import { bodyOf, callerOf } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { choice, list, required } from '../../http/fields/field.ts';
import { sender } from '../../http/fields/message-fields.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import type { Accepted, Action } from '../../http/idempotency/action.ts';
import { refusedLate } from '../../http/idempotency/refused-late.ts';
import { quotaProblem } from '../../http/quota-problem.ts';
import { senderRecord } from './record.ts';

const ROUTES = ['transactional', 'promotional'] as const satisfies readonly Route[];

export const REQUEST_SENDER = request({
  sender: required(sender),
  routes: required(list(choice(ROUTES), { description: 'The routes that it is for.', minItems: 1, maxItems: 2 })),
});

/** POST /v2/account/senders (extension): asks for a sender. It can be used when an operator has approved it. */
export function createRequestSender(deps: Pick<GatewayDeps, 'db' | 'clock' | 'config'>): Action<SenderId> {
  const { db, clock, config } = deps;
  return {
    name: 'request-sender',
    newId: () => newId('snd', clock.now().getTime()),
    async act(res, { id, payBy }) {
      const caller = callerOf(res);
      const account = caller.account._id;
      const read = await readRequest(REQUEST_SENDER, bodyOf(res), { ...caller, now: clock.now(), config });
      if (read.problems.count > 0) return { kind: 'refused', problem: invalidRequest(read.problems) };
      const late = refusedLate(clock, payBy);
      if (late !== undefined) return late;
      const wanted = whole(read);
      const routes = ROUTES.filter((route) => wanted.routes.includes(route));
      try {
        const made = await changeAudited(deps, caller, {
          action: 'sender.request',
          subject: { kind: 'sender', id },
          read: async () => undefined,
          make: () =>
            createSender(db, clock, {
              ...{ _id: id, account, sender: wanted.sender, routes, status: 'submitted', requested: true },
            }),
          madeOf: senderRecord,
          isRefusal: (error) => error instanceof SenderExists || error instanceof QuotaReached,
        });
        return asked(made);
      } catch (error) {
        if (error instanceof QuotaReached) return { kind: 'refused', problem: quotaProblem(error) };
        if (!(error instanceof SenderExists)) throw error;
        const known = await findSender(db, account, wanted.sender);
        return known?._id === id ? asked(known) : exists(known);
      }
    },
    async recover(account, id) {
      const found = await findSenderById(db, account, id);
      return found && asked(found);
    },
  };
}

function asked(made: SenderDocument): Accepted {
  return { kind: 'accepted', body: { status: 'success', ...senderRecord(made) } };
}

function exists(known: SenderDocument | undefined) {
  const detail =
    known &&
    `The account has the sender ${known.sender} already; it is ${known.status}. To ask again, or for other routes, remove it first.`;
  return { kind: 'refused', problem: ['sender_exists', detail === undefined ? {} : { detail }] } as const;
}
