import type { Stored } from '../../../shared/events/webhooks/delivery.ts';
import type { AccountId, EndpointId } from '../../../shared/platform/runtime/ids.ts';
import { EndpointQueues, type EndpointQueuesOptions, type Post } from '../../../workers/webhooks/endpoint-queues.ts';
import { makeDelivery } from '../../shared/events/webhooks/make.ts';

/** By default every endpoint has its own host. */
export function openQueues(options: Partial<EndpointQueuesOptions> = {}): EndpointQueues {
  return new EndpointQueues({
    perHost: 8,
    isFailing: () => false,
    hostOf: (endpoint) => `${endpoint}.example`,
    sizeOf: () => ({ eventsPerPost: 1, gatherMs: 0 }),
    now: () => new Date(),
    ...options,
  });
}

export function filled(queues: EndpointQueues, endpoint: EndpointId, count: number, account?: AccountId): Stored[] {
  return Array.from({ length: count }, () => {
    const delivery = makeDelivery({ endpoint, account: account ?? `acc_of_${endpoint}` });
    queues.add(delivery);
    return delivery;
  });
}

export function drain(queues: EndpointQueues): Post[] {
  const all: Post[] = [];
  for (let next = queues.next(); next !== undefined; next = queues.next()) all.push(next);
  return all;
}

export function end(queues: EndpointQueues, post: Post): void {
  for (const of of queues.posted(post)) queues.completed(of);
}

export const endpointsOf = (posts: readonly Post[]) => posts.map(({ endpoint }) => endpoint);
