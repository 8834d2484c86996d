import { closeSync, openSync, writeSync } from 'node:fs';
import type { Submit } from '../smpp/submit.ts';

/**
 * Appends accepted messages to a file, one line of JSON each. Lines are written before the answers of the same turn of the event
 * loop leave. So every message that a client was told of is in the file.
 */
export class AuditFile {
  readonly #file: number;
  #lines = '';

  /** Opens `path` for appending. Throws if that fails. */
  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  add(submit: Submit): void {
    if (this.#lines === '') setImmediate(() => this.flush()); // If nothing is answered in this turn, nothing else flushes.
    this.#lines += `${JSON.stringify(auditLine(submit))}\n`;
  }

  /** Writes the lines that were added since the last call. */
  flush(): void {
    if (this.#lines === '') return;
    writeSync(this.#file, this.#lines);
    this.#lines = '';
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}

/** `{"time":"2026-11-21T10:00:00.000Z","id":"…","from":"ACMEIN",…,"udh":"050003070201","tlvs":{"0x1400":"3131…"},"text":"…"}` */
function auditLine(submit: Submit): Record<string, unknown> {
  return {
    time: new Date(submit.receivedAt).toISOString(),
    id: submit.messageId,
    session: submit.sessionId,
    system_id: submit.systemId,
    sequence: submit.sequence,
    from: submit.from,
    to: submit.to,
    data_coding: submit.dataCoding,
    esm_class: submit.esmClass,
    registered_delivery: submit.registeredDelivery,
    validity_period: submit.validityPeriod,
    udh: submit.header.toString('hex'),
    tlvs: Object.fromEntries([...submit.tlvs].map(([tag, value]) => [tagName(tag), value.toString('hex')])),
    octets: submit.body.toString('hex'),
    text: submit.text,
  };
}

function tagName(tag: number): string {
  return `0x${tag.toString(16).padStart(4, '0')}`;
}
