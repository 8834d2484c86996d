const whole = new Intl.NumberFormat('en-IN');
const parts = new Intl.NumberFormat('en-IN', { maximumFractionDigits: 2 });

/** Grouped as in India: 12,34,567. */
export function number(value: number): string {
  return whole.format(value);
}

/** "1 credit", "12,000 credits". */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

export function amount(value: number): string {
  return parts.format(value);
}
