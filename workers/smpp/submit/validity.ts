import type { SubmitSettings } from '../../../shared/carriers/settings/submits.ts';

const MINUTE_MS = 60_000;
/** The day field of the relative form has two digits; validity is capped far below. */
const LONGEST_VALIDITY_MS = 30 * 86_400_000;

/**
 * What is left of the validity (SMPP 3.4 §7.1.1), at least a minute: relative `YYMMDDhhmmss000R`, so that no time zone can be wrong;
 * absolute in UTC, `YYMMDDhhmmss000+`; or nothing, and the carrier's own validity counts.
 */
export function validityPeriod(form: SubmitSettings['validity'], validUntil: Date, now: Date): string {
  if (form === 'none') return '';
  const leftMs = Math.min(Math.max(validUntil.getTime() - now.getTime(), MINUTE_MS), LONGEST_VALIDITY_MS);
  if (form === 'absolute') {
    const end = new Date(now.getTime() + leftMs);
    return `${end.toISOString().replaceAll(/\D/g, '').slice(2, 14)}000+`;
  }
  const minutes = Math.floor(leftMs / MINUTE_MS);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `0000${two(Math.floor(minutes / 1_440))}${two(Math.floor(minutes / 60) % 24)}${two(minutes % 60)}00000R`;
}
