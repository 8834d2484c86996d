import type { SubmitSettings } from '../../../shared/carriers/settings/submits.ts';

const MINUTE_MS = 60_000;
/** The relative form has two digits for days. The allowed validity is far shorter than this. */
const LONGEST_VALIDITY_MS = 30 * 86_400_000;

/**
 * The remaining validity (SMPP 3.4 §7.1.1), at least one minute. `relative`: `YYMMDDhhmmss000R`, which no time zone can make
 * wrong. `absolute`: `YYMMDDhhmmss000+`, in UTC. Otherwise empty, and the carrier uses its own validity.
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
