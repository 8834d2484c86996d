/** docs/monitoring/grafana.json: a dashboard to import, on the same metrics as the alerts. */

interface Panel {
  readonly title: string;
  /** Grafana's unit. Absent: a count, or a count a second. */
  readonly unit?: 's' | 'reqps';
  readonly kind?: 'table';
  /** Prometheus expressions by legend. */
  readonly lines: Readonly<Record<string, string>>;
}

/** Grafana chooses the interval. */
function rate(metric: string, by: string, where = ''): string {
  return `sum by (${by}) (rate(harkara_${metric}${where}[$__rate_interval]))`;
}

function percentile(part: number, metric: string, { by = '', where = '' } = {}): string {
  const kept = by === '' ? 'le' : `le, ${by}`;
  return `histogram_quantile(${part}, ${rate(`${metric}_bucket`, kept, where)})`;
}

/** In rows of three: what is wrong, then a message's way from the request to the webhook. */
const PANELS: readonly Panel[] = [
  { title: 'What is wrong now', kind: 'table', lines: { '': 'harkara_conditions > 0' } },
  { title: 'Processes', lines: { '{{app}}': 'harkara_processes' } },
  { title: 'Messages that wait', lines: { '{{path}} {{lane}}': 'harkara_queue_messages' } },

  { title: 'Requests', unit: 'reqps', lines: { '{{status}}': rate('http_requests_total', 'status') } },
  {
    title: 'Time to the answer of /v2/send',
    unit: 's',
    lines: {
      median: percentile(0.5, 'http_request_seconds', { where: '{route="/v2/send"}' }),
      '99 %': percentile(0.99, 'http_request_seconds', { where: '{route="/v2/send"}' }),
    },
  },
  {
    title: 'Age of the oldest message that waits',
    unit: 's',
    lines: { '{{path}} {{lane}}': 'harkara_queue_oldest_seconds' },
  },

  { title: 'Submits', unit: 'reqps', lines: { '{{carrier}}': rate('smpp_submits_total', 'carrier') } },
  {
    title: 'Answers of carriers',
    unit: 'reqps',
    lines: { '{{carrier}} {{class}}': rate('smpp_answers_total', 'carrier, class') },
  },
  {
    title: 'Time to the answer of carriers, 99 %',
    unit: 's',
    lines: { '{{carrier}}': percentile(0.99, 'smpp_answer_seconds', { by: 'carrier' }) },
  },

  { title: 'Binds', lines: { '{{carrier}}': 'harkara_smpp_binds' } },
  {
    title: 'Windows: submits without an answer, and segments that wait for a place',
    lines: { '{{carrier}} used': 'harkara_smpp_window_used', '{{carrier}} waiting': 'harkara_smpp_window_waiting' },
  },
  {
    title: 'Receipts',
    unit: 'reqps',
    lines: { '{{carrier}} {{state}}': rate('smpp_receipt_states_total', 'carrier, state') },
  },

  {
    title: 'Sends to chat-app providers',
    unit: 'reqps',
    lines: { '{{result}}': rate('chatapp_sends_total', 'result') },
  },
  { title: 'Webhook posts', unit: 'reqps', lines: { '{{result}}': rate('webhook_posts_total', 'result') } },
  {
    title: 'Webhook deliveries that are due, and time of a post (99 %)',
    lines: {
      '{{stage}}': 'harkara_webhook_deliveries',
      'seconds of a post': percentile(0.99, 'webhook_post_seconds'),
    },
  },
];

export function grafanaFile(): string {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  const panels = PANELS.map(({ title, unit, kind, lines }, at) => ({
    id: at + 1,
    title,
    type: kind ?? 'timeseries',
    datasource,
    gridPos: { x: (at % 3) * 8, y: Math.floor(at / 3) * 8, w: 8, h: 8 },
    fieldConfig: { defaults: { min: 0, ...(unit && { unit }) }, overrides: [] },
    options: kind === 'table' ? {} : { tooltip: { mode: 'multi', sort: 'desc' } },
    targets: Object.entries(lines).map(([legendFormat, expr], line) => ({
      refId: String.fromCharCode(65 + line),
      datasource,
      expr,
      legendFormat,
      ...(kind === 'table' && { format: 'table', instant: true }),
    })),
  }));
  const dashboard = {
    uid: 'harkara',
    title: 'Harkara',
    schemaVersion: 39,
    editable: true,
    refresh: '15s',
    time: { from: 'now-1h', to: 'now' },
    templating: { list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }] },
    panels,
  };
  return `${JSON.stringify(dashboard)}\n`;
}
