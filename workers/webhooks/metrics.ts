import type { Metrics } from '../../shared/platform/runtime/metrics.ts';

/** This worker's metrics at `/metrics`. */
export interface WebhookMetrics {
  post(result: number | string, durationMs: number): void;
  now(counts: { readonly queued: number; readonly inFlight: number; readonly partitions: number }): void;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];

export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const posts = metrics.counter('webhook_posts_total', 'Webhook posts by class of result.', ['result']);
  const seconds = metrics.histogram('webhook_post_seconds', 'Duration of webhook posts.', SECONDS);
  const inHand = metrics.gauge('webhook_deliveries', 'Due deliveries read by the workers, by stage.', ['stage']);
  const partitions = metrics.gauge('webhook_partitions', 'Partitions of the endpoints that a worker holds.');
  return {
    post(result, durationMs) {
      posts.inc({ result: resultClass(result) });
      seconds.observe(durationMs / 1_000);
    },
    now({ queued, inFlight, partitions: held }) {
      inHand.set({ stage: 'queued' }, queued);
      inHand.set({ stage: 'in_flight' }, inFlight);
      partitions.set(held);
    },
  };
}

/** `2xx` … `5xx`, or our own code. */
function resultClass(result: number | string): string {
  return typeof result === 'number' ? `${Math.floor(result / 100)}xx` : result;
}
