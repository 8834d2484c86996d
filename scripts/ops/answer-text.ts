type Values = Readonly<Record<string, unknown>>;

/** An endpoint's answer for people: a table for a list, a sheet for one thing. */
export function answerText(told: Values, { columns }: { readonly columns?: readonly string[] }): string {
  const { status: _, data, next_cursor, has_more, ...rest } = told;
  if (Array.isArray(data)) {
    const more = typeof next_cursor === 'string' ? `\nThere are more: --cursor ${next_cursor}` : '';
    return `${listText(data, columns)}${more}`;
  }
  const [only, ...others] = Object.values(rest);
  if (others.length > 0) return recordText(rest);
  if (Array.isArray(only)) return listText(only, columns);
  return isPlain(only) ? recordText(only) : recordText(rest);
}

export function listText(entries: readonly unknown[], columns?: readonly string[], none = 'There are none.'): string {
  const rows = entries.map((entry) => (isPlain(entry) ? flat(entry) : { value: entry }));
  const names = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    names.map(heading),
    rows.map((row) => names.map((name) => cell((row as Values)[name]))),
    none,
  );
}

/** Plain members one per line, then tables of nested lists. */
export function recordText(record: Values): string {
  const all = Object.entries(flat(record));
  const lists = all.filter(([, value]) => isListOfThings(value));
  const plain = all.filter(([, value]) => !isListOfThings(value));
  const lines = Object.fromEntries(plain.map(([name, value]) => [name.replaceAll('_', ' '), cell(value)]));
  const tables = lists.map(([name, value]) => `\n${heading(name)}\n${listText(value as readonly unknown[])}`);
  return [...(plain.length === 0 ? [] : [sheet(lines)]), ...tables].join('\n');
}

function isListOfThings(value: unknown): boolean {
  return Array.isArray(value) && value.some(isPlain);
}

/** Nested members become `settings.dlt`. */
function flat(record: Values, place = ''): Values {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]): [string, unknown][] =>
      isPlain(value) ? Object.entries(flat(value, `${place}${name}.`)) : [[place + name, value]],
    ),
  );
}

function heading(name: string): string {
  return name.replace(/_id$/, '').replaceAll(/[_.]/g, ' ').toUpperCase();
}

/** Texts of customers and carriers could control the operator's terminal, so control characters are removed. */
export function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value) && !isListOfThings(value)) return value.length === 0 ? '-' : value.map(cell).join(',');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

function isPlain(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Aligned columns with a heading, or `none` without rows. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const all = [heading, ...rows];
  const widths = heading.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One `name  value` per line. */
export function sheet(fields: Readonly<Record<string, string | number | boolean>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd())
    .join('\n');
}
