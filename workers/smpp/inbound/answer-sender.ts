import type { Collection, Db } from 'mongodb';
import type { AnswerText } from '../../../shared/carriers/opt-outs/words.ts';
import { Routes } from '../../../shared/carriers/routing/store.ts';
import type { MessageDocument, Route } from '../../../shared/messages/document/message.ts';
import { laneOf } from '../../../shared/messages/document/routing.ts';
import { acceptFollowOn } from '../../../shared/messages/follow-on-sms.ts';
import { planText } from '../../../shared/messages/sms-plan.ts';
import { FollowUp } from '../../../shared/money/payment/follow-up.ts';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';

interface AnswerSenderOptions extends Pick<CarrierContext, 'db' | 'clock' | 'log' | 'metrics'> {}

/** For the metrics. `late`: the account could not pay for it in time. */
type Result = 'sent' | 'unpaid' | 'no_template' | 'not_allowed' | 'no_route' | 'late';

interface Verdict {
  readonly result: Result;
  readonly reason?: string;
}

const ROUTE: Route = 'transactional';
/** A much later confirmation is confusing. The FCC expects it within 5 minutes: 47 CFR 64.1200(a)(12). */
const VALID_MS = 60 * 60_000;
const PAGE = 100;

/**
 * Turns due answers to customers into paid messages, apart from the binds, so that received SMS and receipts do not
 * wait. One per process. Each answer is tried until it is accepted or certainly refused. A repeat makes no second
 * message, because the ids of message and debit derive from the customer's message (`acceptOnce`).
 */
export class AnswerSender {
  readonly #options: AnswerSenderOptions;
  readonly #followUp: FollowUp;
  readonly #routes: Routes;
  /** Carriers whose customers may be due answers. The code that stores a due answer adds its carrier. */
  readonly withDueAnswers = new Set<string>();

  constructor(options: AnswerSenderOptions) {
    this.#options = options;
    this.#followUp = new FollowUp(options);
    this.#routes = new Routes(options);
  }

  /** Call it under the carrier's lease. Rejects when an answer could not be settled: repeat it then. */
  async send(carrier: string): Promise<void> {
    if (!this.withDueAnswers.delete(carrier)) return;
    try {
      const failed: unknown[] = [];
      let found: readonly DueAnswer[] = [];
      do {
        found = await findDueAnswers(this.#options.db, carrier, PAGE, found.at(-1)?._id);
        for (const answer of found) {
          await this.#settle(answer).catch((error: unknown) => {
            if (isStoreTrouble(error)) throw error;
            failed.push(error);
          });
        }
      } while (found.length === PAGE);
      if (failed.length > 0) throw failed[0];
    } catch (error) {
      this.withDueAnswers.add(carrier);
      throw error;
    }
  }

  async #settle(answer: DueAnswer): Promise<void> {
    const { db, log, metrics } = this.#options;
    const { result, reason } = await this.#try(answer);
    if (result === 'sent') crashPoint('answer:paid');
    else {
      const event = result === 'unpaid' ? 'opt_out_answer_unpaid' : 'opt_out_answer_not_sent';
      log.warn(event, { account: answer.account, message_id: answer.inReplyTo, reason: reason ?? result });
    }
    await removeDueAnswer(db, answer._id);
    metrics.optOutAnswers.inc({ carrier: answer.carrier, result });
  }

  /** Rejects when the result is unknown. The answer is still due then. */
  async #try(answer: DueAnswer): Promise<Verdict> {
    const { _id, account, inReplyTo, to, sender, text, template, entityId, at } = answer;
    const { encoding, segments } = planText(text);
    const validUntil = new Date(at.getTime() + VALID_MS);
    const sms = {
      ...{ _id, inReplyTo, to, sender, route: ROUTE, lane: laneOf(ROUTE), text, encoding, segments, validUntil },
      ...defined({ template, entityId }),
    };
    const deps = { ...this.#options, followUp: this.#followUp, routes: this.#routes };
    const { kind } = await acceptFollowOn(deps, account, sms);
    switch (kind) {
      case 'outcome_unknown':
        throw new Error('whether an answer is paid for cannot be told yet');
      case 'accepted':
        return { result: 'sent' };
      case 'late':
      case 'not_allowed':
      case 'no_route':
        return { result: kind };
      case 'entity_id_missing':
        return { result: 'no_template' };
      default:
        return { result: 'unpaid', reason: kind };
    }
  }
}

/** A due answer to STOP, START or HELP, stored before the customer's message, until it is paid or refused for good. */
export interface DueAnswer extends AnswerText, Pick<MessageDocument, 'account' | 'to' | 'sender'> {
  readonly _id: MessageId;
  readonly inReplyTo: MessageId;
  readonly carrier: string;
  readonly at: Date;
}

/** Stored answers are not changed. Throws the driver's error. */
export async function storeDueAnswers(db: Db, answers: readonly DueAnswer[]): Promise<void> {
  await insertNew(db, 'opt_out_answers', answers);
}

function findDueAnswers(db: Db, carrier: string, limit: number, after?: MessageId): Promise<DueAnswer[]> {
  return due(db)
    .find({ carrier, ...(after === undefined ? {} : { _id: { $gt: after } }) })
    .sort({ _id: 1 })
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

async function removeDueAnswer(db: Db, id: MessageId): Promise<void> {
  await due(db).deleteOne({ _id: id });
}

function due(db: Db): Collection<DueAnswer> {
  return db.collection('opt_out_answers');
}
