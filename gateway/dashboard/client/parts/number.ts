const whole = new Intl.NumberFormat('en-IN');
const parts = new Intl.NumberFormat('en-IN', { maximumFractionDigits: 2 });

/** Grouped as in India: 12,34,567. */
export function number(value: number): string {
  return whole.format(value);
}

export function amount(value: number): string {
  return parts.format(value);
}
