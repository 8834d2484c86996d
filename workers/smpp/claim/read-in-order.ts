import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { Queue } from './queue.ts';
import { type Quotas, quotaOf } from './quota.ts';

export interface ReadInOrder {
  readonly messages: MessageDocument[];
  /** The lane in which the reading reached the number that was wanted. Infinity if it found fewer. */
  readonly fullLane: number;
}

/**
 * Reads up to `wanted` messages, the most urgent lane first. Inside a lane the paths get their quotas in rotation: what waits on
 * one path must not wait for the backlog of another, because other carriers may be down for long. `pathQuotas` by lane.
 */
export async function readInOrder(
  queues: readonly Queue[],
  pathQuotas: readonly Quotas<'path'>[],
  wanted: number,
): Promise<ReadInOrder> {
  const messages: MessageDocument[] = [];
  for (const lane of new Set(queues.map((queue) => queue.lane))) {
    const left = wanted - messages.length;
    if (left === 0) break;
    const found = await readLane(
      queues.filter((queue) => queue.lane === lane),
      left,
    );
    messages.push(...(pathQuotas[lane]?.inRounds(found, quotaOf(left)) ?? found).slice(0, left));
    if (messages.length === wanted) return { messages, fullLane: lane };
  }
  return { messages, fullLane: Number.POSITIVE_INFINITY };
}

/** An equal part of each queue. The queue that had least last time is read first, and what it leaves goes to the others. */
async function readLane(queues: readonly Queue[], wanted: number): Promise<MessageDocument[]> {
  const found: MessageDocument[] = [];
  let left = wanted;
  for (const [i, queue] of queues.toSorted((a, b) => a.found - b.found).entries()) {
    const part = Math.max(Math.ceil(left / (queues.length - i)), 1);
    const inRounds = queue.quotas.inRounds(await queue.next(part), quotaOf(part));
    found.push(...inRounds);
    left -= Math.min(inRounds.length, part);
  }
  return found;
}
