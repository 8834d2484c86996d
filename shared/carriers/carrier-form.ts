import type { CarrierDlt, CarrierDocument } from './carrier.ts';
import { chainFaults } from './chain.ts';

/** Invalid settings of a carrier; each problem names its field. */
export class BadCarrier extends Error {
  readonly code = 'bad_carrier';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/** A carrier's document without the fields that the store adds, with the password in clear. */
export type CarrierInput = Omit<CarrierDocument, 'createdAt'>;

const MAX_BINDS = 50;
const MAX_WINDOW = 10_000;
const MAX_PER_SECOND = 100_000;
/**
 * Lengths of the bind PDUs' C-strings without their NUL (SMPP 3.4 §4.1.1). The standard limits passwords to 8 characters; many
 * carriers allow more.
 */
const MAX_SYSTEM_ID = 15;
const MAX_PASSWORD = 64;
const MAX_SYSTEM_TYPE = 12;

/** Throws `BadCarrier` with all problems. */
export function checkCarrier(carrier: CarrierInput): void {
  const problems: string[] = [];
  const check = (ok: boolean, problem: string): void => {
    if (!ok) problems.push(problem);
  };
  check(/^[a-z0-9-]{1,32}$/.test(carrier._id), 'id: 1 to 32 of a-z, 0-9 and -.');
  check(carrier.name.trim() !== '' && carrier.name.length <= 64, 'name: 1 to 64 characters.');
  check(/^[^\s/]{1,253}$/.test(carrier.host), 'host: a host name or an address.');
  check(whole(carrier.port, 1, 65_535), 'port: 1 to 65535.');
  check(printable(carrier.systemId, 1, MAX_SYSTEM_ID), `systemId: 1 to ${MAX_SYSTEM_ID} ASCII characters.`);
  check(printable(carrier.password, 0, MAX_PASSWORD), `password: at most ${MAX_PASSWORD} ASCII characters.`);
  check(printable(carrier.systemType, 0, MAX_SYSTEM_TYPE), `systemType: at most ${MAX_SYSTEM_TYPE} ASCII characters.`);
  check(whole(carrier.binds, 1, MAX_BINDS), `binds: 1 to ${MAX_BINDS}.`);
  check(whole(carrier.windowSize, 1, MAX_WINDOW), `windowSize: 1 to ${MAX_WINDOW}.`);
  check(whole(carrier.perSecond, 0, MAX_PER_SECOND), `perSecond: 0 (no limit) to ${MAX_PER_SECOND}.`);
  check(carrier.paths.length > 0, 'paths: at least one.');
  check(whole(carrier.enquireLinkMs, 100, 600_000), 'enquireLinkMs: 100 to 600000.');
  check(whole(carrier.responseTimeoutMs, 100, 600_000), 'responseTimeoutMs: 100 to 600000.');
  check(whole(carrier.unknownWaitMs, 0, 604_800_000), 'unknownWaitMs: 0 to 604800000.');
  check(whole(carrier.receiptOffsetMinutes, -840, 840), 'receiptOffsetMinutes: -840 to 840.');
  if (carrier.dlt !== undefined && carrier.dlt !== 'off') checkDlt(carrier.dlt, check);
  if (problems.length > 0) throw new BadCarrier(problems);
}

/** The tags that SMPP 3.4 §5.3.2 leaves to vendors. */
const VENDOR_TAGS = { min: 0x1400, max: 0x3fff };

function checkDlt(
  { entityTag, templateTag, hashTag, chain }: CarrierDlt,
  check: (ok: boolean, problem: string) => void,
): void {
  const tags = [entityTag, templateTag, ...(hashTag === undefined ? [] : [hashTag])];
  const { min, max } = VENDOR_TAGS;
  check(
    tags.every((tag) => whole(tag, min, max)),
    'dlt: tags are 0x1400 to 0x3fff.',
  );
  check(new Set(tags).size === tags.length, 'dlt: each tag once.');
  if (chain === undefined) return;
  check(hashTag !== undefined, 'dlt: a chain needs a tag for the hash.');
  for (const fault of chainFaults(chain)) check(false, `dlt: ${fault}`);
}

function whole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function printable(value: string, min: number, max: number): boolean {
  return value.length >= min && value.length <= max && /^[\x20-\x7e]*$/.test(value);
}
