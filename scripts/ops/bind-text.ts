import type { Told } from './act.ts';
import { table } from './show.ts';

const HEADING = [
  ...['CARRIER', 'BIND', 'STATE', 'SINCE', 'WINDOW', 'RATE', 'ANSWERS p50/p99', 'THROTTLED', 'RECEIPTS'],
  'LAST REFUSAL',
];

/** Each bind of each carrier, as its holder measured it. */
export function bindsText({ carriers }: Told): string {
  const rows = carriers.flatMap((carrier: Told) =>
    carrier.binds.length === 0
      ? [[carrier.carrier_id, '', carrier.words]]
      : carrier.binds.map((bind: Told) => [carrier.carrier_id, String(bind.index), ...cells(carrier, bind)]),
  );
  return table(HEADING, rows, 'There are no carriers yet.');
}

function cells({ window_size, per_second: limit, measured }: Told, bind: Told): string[] {
  const rate = measured?.per_second ?? null;
  const counts = Object.entries(measured?.receipts ?? {}).map(([state, count]) => `${state} ${count}`);
  return [
    bind.state,
    bind.since,
    `${bind.window_used ?? '-'}/${window_size}`,
    rate === null ? (limit === 0 ? 'no limit' : `${limit}/s`) : `${rate}/s${rate === limit ? '' : '*'}`,
    measured?.answer_ms ? `${measured.answer_ms.p50}/${measured.answer_ms.p99} ms` : '-',
    String(measured?.throttled ?? 0),
    counts.join(', ') || '-',
    refusal(bind, measured?.last_refusal),
  ];
}

/** Of two things the newer one: why the bind was not bound, or the last submit that was not accepted. */
function refusal({ trouble, last_trouble }: Told, ofSubmit: Told): string {
  const ofBind = trouble ?? last_trouble;
  if (ofSubmit && (ofBind === null || ofBind.since < ofSubmit.at)) {
    return `submit: ${ofSubmit.reason} (${ofSubmit.code}) at ${ofSubmit.at}`;
  }
  return ofBind?.words ?? 'none';
}
