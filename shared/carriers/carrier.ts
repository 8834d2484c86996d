import type { CallbackId } from '../platform/runtime/ids.ts';
import { BASICS } from './settings/basics.ts';
import { withDefaults } from './settings/setting.ts';
import type { StoredGroups } from './settings/table.ts';

/**
 * A carrier and how to reach it over SMPP or HTTPS, in one document. Workers notice changes within seconds. Each group of settings
 * (`settings/table.ts`) stores only the settings that somebody has set.
 */
export interface CarrierDocument extends StoredGroups {
  /** Short name, `[a-z0-9-]{1,32}`. It is part of keys and metrics. */
  readonly _id: string;
  /** Name for people. It becomes the `operator` of a delivered message when no better name is known. */
  readonly name: string;
  readonly status: 'active' | 'paused';
  /** Absent: smpp. */
  readonly kind?: 'smpp' | 'http';
  /** Where receipts of an HTTP carrier come in: `/carriers/callback/<callback>`. Every carrier has one that was HTTP once. */
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
  /** Parallel binds of that kind. */
  readonly binds: number;
  /** Unanswered submit_sm per bind. */
  readonly windowSize: number;
  /** Segments a second, all binds of this carrier together; 0: no limit of ours. */
  readonly perSecond: number;
  /** The paths (routing groups) that it serves. */
  readonly paths: readonly string[];
  readonly enquireLinkMs: number;
  readonly responseTimeoutMs: number;
  /**
   * How message ids in submit_sm_resp and in receipts compare. `exact`: they are equal, case included. `learn`: the worker learns
   * the form from the first receipts that match in another base or case.
   */
  readonly idForm: 'exact' | 'learn';
  /** Offset of the dates in its receipts, in minutes east of UTC. */
  readonly receiptOffsetMinutes: number;
  /**
   * What happens to a submit that is still unanswered after `unknownWaitMs`. `assume_sent`: it counts as sent. The price: 4 of
   * 7,788 messages in a run of 15 kills were charged and never left. `resend`: it is sent again and may arrive twice. The same
   * run lost none and doubled none.
   */
  readonly unknownPolicy: 'assume_sent' | 'resend';
  readonly unknownWaitMs: number;
  /** How the carrier takes the ids of India's DLT; `off` or absent: it does not take them. */
  readonly dlt?: CarrierDlt | 'off';
  readonly createdAt: Date;
}

/**
 * TLVs of submit_sm with the ids of India's DLT. Each carrier chooses tags, order and content (SMPP 3.4 §5.3.2 leaves 0x1400 to
 * 0x3FFF to vendors). Most use 0x1400 for the entity, 0x1401 for the template and 0x1402 for the hash; others use these tags
 * differently.
 */
export interface CarrierDlt {
  readonly entityTag: number;
  readonly templateTag: number;
  /**
   * Tag of the PE-TM chain hash, for carriers where this product is the last hop before the operator. Sent only where there is a
   * chain.
   */
  readonly hashTag?: number;
  /**
   * The telemarketers after the entity, from the first to the delivering one. They are hashed after the entity's id. Used for
   * accounts without a chain of their own at this carrier (chain.ts).
   */
  readonly chain?: readonly string[];
  /** Octet string, or C-octet string, which ends with NUL. */
  readonly form: 'octet' | 'cstring';
}

/** The lease whose holder works for the carrier. */
export function carrierLease(carrier: string): string {
  return `carrier:${carrier}`;
}

/** Where an HTTP carrier posts its receipts to, on the gateway. Undefined for the others. */
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
