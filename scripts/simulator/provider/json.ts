export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined; // parsed JSON
}

export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map((one) => object(one) ?? {}) : [];
}

export function filled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The first member of `value` that is not in `allowed`. */
export function surplus(value: Json, allowed: readonly string[]): string | undefined {
  return Object.keys(value).find((key) => !allowed.includes(key));
}
