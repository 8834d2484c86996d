import { CONDITIONS } from '../../shared/conditions/catalogue.ts';

/** Files in docs/monitoring/, made from the list of conditions. */

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

/** Longer than a restart. */
const FOR = '1m';

/** Conditions under which no gateway reports metrics. */
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
        // Severity depends on the metric: some binds down is less severe than all.
        severity: expr === undefined ? '{{ $labels.severity }}' : concern.severity,
        summary: expr === undefined ? `{{ with $labels.subject }}{{ . }}: {{ end }}${title}` : title,
        description: how,
        action: concern.todo,
      },
    ];
  });
  return [down, ...others];
}

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

/** Quotes a text for YAML as the formatter does. */
function quoted(text: string): string {
  const count = (mark: string) => text.split(mark).length;
  return count('"') > count("'") ? `'${text.replaceAll("'", "''")}'` : JSON.stringify(text);
}
