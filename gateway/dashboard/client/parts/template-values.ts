/** The values of a template from a text area: one on each line, exactly as written. An empty line is an empty value. */
export function templateValues(written: string): string[] {
  return written === '' ? [] : written.split('\n');
}
