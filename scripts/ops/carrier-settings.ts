import { settingsForm } from '../../gateway/endpoints/carriers/settings-form.ts';
import type { Request, Told, Values } from './act.ts';
import { sheet, table } from './answer-text.ts';
import type { Parameter } from './command.ts';
import { readOctets } from './input.ts';
import { optionName } from './read-words.ts';

/** A carrier's settings as options in text form, as the endpoints take them, generated from the tables of settings. */

const FORM = settingsForm();

export const SETTING_OPTIONS: Readonly<Record<string, Parameter<unknown>>> = Object.fromEntries(
  FORM.map((one) => [
    one.name,
    {
      ...{ about: one.about, form: one.form, required: false },
      value: one.secret
        ? 'FILE'
        : (one.choices?.join('|') ?? optionName(one.name).split('-').at(-1)?.toUpperCase() ?? ''),
      ...(one.default !== null && { standard: one.default }),
      read: (text) => ({ value: text }),
    } satisfies Parameter<unknown>,
  ]),
);

/** Certificates and keys are read from files. */
export async function withSettings(asked: Request, given: Values): Promise<Request> {
  const settings: Record<string, string> = {};
  for (const { name, secret } of FORM) {
    const text = given[name];
    if (typeof text !== 'string') continue;
    settings[name] = secret && text !== 'off' ? (await readOctets(text)).toString('utf8') : text;
  }
  return { ...asked, body: { ...asked.body, settings } };
}

/** Every setting with its value, whether somebody has set it, and what it does. */
export function settingsText({ settings, binds: _, measured: _measured, ...carrier }: Told): string {
  const { carrier_id, name, status, words, callback } = carrier;
  const receipts = callback === null ? {} : { 'receipts come in at': `HARKARA_PUBLIC_URL${callback}` };
  const rows = settings.map((one: Told) => [
    `--${optionName(one.name)}`,
    one.value,
    one.is_set && one.default !== null ? '*' : '',
    one.about,
  ]);
  return `${sheet({ carrier: carrier_id, name, status, state: words, ...receipts })}\n\n${table(['SETTING', 'VALUE', '', 'WHAT IT IS'], rows, '')}`;
}

const HEADING = [
  ...['CARRIER', 'BIND', 'STATE', 'SINCE', 'WINDOW', 'RATE', 'ANSWERS p50/p99', 'THROTTLED', 'RECEIPTS'],
  'LAST REFUSAL',
];

/** Each bind of each carrier, as measured by the worker that holds it. */
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

/** The newer of: why the bind failed, and the last submit that was not accepted. */
function refusal({ trouble, last_trouble }: Told, ofSubmit: Told): string {
  const ofBind = trouble ?? last_trouble;
  if (ofSubmit && (ofBind === null || ofBind.since < ofSubmit.at)) {
    return `submit: ${ofSubmit.reason} (${ofSubmit.code}) at ${ofSubmit.at}`;
  }
  return ofBind?.words ?? 'none';
}
