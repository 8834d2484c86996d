import { CONDITIONS } from '../../shared/conditions/catalogue.ts';

/** What operators read and load of the list of conditions: docs/monitoring/. */

/** `HarkaraCarrierRefusing`. */
function alertName(name: string): string {
  const words = name.split(/[._]/).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `Harkara${words.join('')}`;
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly severity: string;
  readonly summary: string;
  readonly description: string;
  readonly action: string;
}

/** A restart ends within it. */
const FOR = '1m';

/** No gateway could tell of these. */
const WITHOUT_METRICS: Readonly<Record<string, string>> = {
  'watch.stopped':
    '(time() - max(harkara_watched_at_seconds) > 60 or absent(harkara_watched_at_seconds)) and on () (max(up{job="harkara"}) == 1)',
};

function alerts(): readonly Alert[] {
  const down: Alert = {
    ...{ alert: 'HarkaraDown', expr: 'up{job="harkara"} == 0', severity: 'urgent' },
    summary: 'No gateway answers, or the store does not',
    description: 'Prometheus gets no metrics.',
    action: '`npx pm2 ls`, then the manual, "The API answers 503".',
  };
  const others = Object.entries(CONDITIONS).flatMap(([name, { title, how, concerns }]): Alert[] => {
    const concern = 'operator' in concerns ? concerns.operator : undefined;
    if (concern === undefined) return [];
    const expr = WITHOUT_METRICS[name];
    return [
      {
        alert: alertName(name),
        expr: expr ?? `harkara_conditions{condition="${name}"} > 0`,
        // A carrier with some of its binds has another severity than one with none.
        severity: expr === undefined ? '{{ $labels.severity }}' : concern.severity,
        summary: expr === undefined ? `{{ with $labels.subject }}{{ . }}: {{ end }}${title}` : title,
        description: how,
        action: concern.todo,
      },
    ];
  });
  return [down, ...others];
}

/** docs/monitoring/alerts.yml. */
export function alertsFile(): string {
  const rules = alerts().map(({ alert, expr, severity, ...annotations }) =>
    [
      `      - alert: ${alert}`,
      `        expr: ${quoted(expr)}`,
      `        for: ${FOR}`,
      `        labels: { severity: ${quoted(severity)} }`,
      '        annotations:',
      ...Object.entries(annotations).map(([name, text]) => `          ${name}: ${quoted(text)}`),
    ].join('\n'),
  );
  return `# Written by \`npm run conditions\` from shared/conditions. severity "urgent": messages do not leave or callers get errors; somebody
# has to look now. "look": somebody has to look today. What is meant by "the manual" is docs/operating.md.
groups:
  - name: harkara
    rules:
${rules.join('\n\n')}
`;
}

/** docs/monitoring/conditions.md. */
export function conditionsPage(): string {
  const rows = Object.entries(CONDITIONS).map(([name, { how, concerns }]) => {
    const of = (who: 'operator' | 'account') => {
      const concern = (concerns as Partial<Record<typeof who, { severity: string; todo: string }>>)[who];
      return concern === undefined ? '–' : `${concern.severity}: ${concern.todo}`;
    };
    return [`\`${name}\``, how, of('operator'), of('account')];
  });
  const cells = [['condition', 'holds when', 'operators', 'the account'], ['---', '---', '---', '---'], ...rows];
  return `# What is watched for

Written by \`npm run conditions\` from \`shared/conditions\`. Operators see what holds on the page Operations, in \`GET /v2/admin/status\`, in \`/readyz?detail\`, as
\`harkara_conditions\` and as alerts; an account sees its own on its overview.

${cells.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`;
}

/** A text in YAML, as the formatter has it. */
function quoted(text: string): string {
  const count = (mark: string) => text.split(mark).length;
  return count('"') > count("'") ? `'${text.replaceAll("'", "''")}'` : JSON.stringify(text);
}
