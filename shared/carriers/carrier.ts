import type { CallbackId } from '../platform/runtime/ids.ts';
import { BASICS } from './settings/basics.ts';
import { withDefaults } from './settings/setting.ts';
import type { StoredGroups } from './settings/table.ts';

/**
 * A carrier and how to reach it over SMPP or HTTPS, in one document. Workers notice changes within seconds. Each group
 * (`settings/table.ts`) holds only the settings that somebody has set.
 */
export interface CarrierDocument extends StoredGroups {
  /** Short name, `[a-z0-9-]{1,32}`. It is part of keys and metrics. */
  readonly _id: string;
  /** Name for people. The `operator` of a delivered message when no better name is known. */
  readonly name: string;
  readonly status: 'active' | 'paused';
  /** Absent: smpp. */
  readonly kind?: 'smpp' | 'http';
  /** An HTTP carrier posts its receipts to `/carriers/callback/<callback>`. Kept when it becomes an SMPP carrier. */
  readonly callback?: CallbackId;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly systemId: string;
  /** Sealed by the secret box. */
  readonly password: string;
  readonly systemType: string;
  /** `transceiver`, or a pair of transmitter and receiver for carriers that require separate binds. */
  readonly bindKind: 'transceiver' | 'pair';
  readonly binds: number;
  /** Unanswered submit_sm per bind. */
  readonly windowSize: number;
  /** Segments a second, all binds of this carrier together; 0: no limit of ours. */
  readonly perSecond: number;
  /** The paths (routing groups) that it serves. */
  readonly paths: readonly string[];
  readonly enquireLinkMs: number;
  readonly responseTimeoutMs: number;
  /** How ids in answers and receipts compare. `learn`: the first receipts teach another base or case. */
  readonly idForm: 'exact' | 'learn';
  /** Offset of the dates in its receipts, in minutes east of UTC. */
  readonly receiptOffsetMinutes: number;
  /**
   * What happens to a submit that is still unanswered after `unknownWaitMs`. `assume_sent`: it counts as sent, so it
   * may be charged and never arrive. `resend`: it is sent again and may arrive twice.
   */
  readonly unknownPolicy: 'assume_sent' | 'resend';
  readonly unknownWaitMs: number;
  /** How the carrier takes the ids of India's DLT; `off` or absent: not at all. */
  readonly dlt?: CarrierDlt | 'off';
  readonly createdAt: Date;
}

/**
 * TLVs of submit_sm with the ids of India's DLT, in the vendors' range 0x1400 to 0x3FFF (SMPP 3.4 §5.3.2). Most
 * carriers use 0x1400 for the entity, 0x1401 for the template, 0x1402 for the hash; others use them differently.
 */
export interface CarrierDlt {
  readonly entityTag: number;
  readonly templateTag: number;
  /** Tag of the PE-TM chain hash, where we are the last hop before the operator. Sent only with a chain. */
  readonly hashTag?: number;
  /** The telemarketers after the entity, in order. For accounts without an own chain here (chain.ts). */
  readonly chain?: readonly string[];
  /** Octet string, or C-octet string, which ends with NUL. */
  readonly form: 'octet' | 'cstring';
}

export function carrierLease(carrier: string): string {
  return `carrier:${carrier}`;
}

/** The gateway's path that an HTTP carrier posts receipts to. Undefined for the others. */
export function callbackPath({ kind, callback }: Pick<CarrierDocument, 'kind' | 'callback'>): string | undefined {
  return kind !== 'http' || callback === undefined ? undefined : `/carriers/callback/${callback}`;
}

export function callbackUrl(publicUrl: string, carrier: Pick<CarrierDocument, 'kind' | 'callback'>): string {
  return `${publicUrl}${callbackPath(carrier) ?? ''}`;
}

export const CARRIER_DEFAULTS = {
  ...withDefaults(BASICS),
  status: 'active',
  dlt: 'off',
} as const satisfies Partial<CarrierDocument>;
