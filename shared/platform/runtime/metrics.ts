import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/**
 * Every process stores its metrics every few seconds (platform/processes/report.ts), and any gateway shows at
 * `/metrics` the sums of gauges, and counters and histograms of each process. So workers need no port, and a scrape
 * that reaches one of several gateways sees everything.
 */
export const METRIC_PREFIX = 'harkara_';

export class Metrics {
  readonly registry = new Registry();

  /** Only grows; `/metrics` has one for each process. `name` without the prefix, unit last (`…_total`). */
  counter<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name: METRIC_PREFIX + name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  /** A current value; summed over processes. */
  gauge<Label extends string>(name: string, help: string, labelNames: readonly Label[] = []): Gauge<Label> {
    return new Gauge({ name: METRIC_PREFIX + name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name: METRIC_PREFIX + name,
      help,
      buckets: [...buckets],
      labelNames: [...labelNames],
      registers: [this.registry],
    });
  }
}
