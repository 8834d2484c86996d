import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { debianProgram } from './debian.ts';

const execute = promisify(execFile);

const MAX_OUTPUT = 200_000_000;

/** A packet with SMPP, in Wireshark's field names; repeated fields have all values. */
export interface DissectedPacket {
  readonly frame: number;
  /** The column for people: `Submit_sm`. */
  readonly info: string;
  /** `smpp.*` and other requested fields; empty if absent. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

/** A packet with something wrong in it, and what. */
export interface MalformedPacket {
  readonly frame: number;
  readonly info: string;
  readonly why: string;
}

export interface Dissection {
  readonly pdus: DissectedPacket[];
  /** What tshark calls malformed, warns of, or cannot read as SMPP (an unknown command, a length below 16). */
  readonly malformed: MalformedPacket[];
}

/** Fields that are always read. */
const FIELDS = ['smpp.command_id', 'smpp.command_status', 'smpp.sequence_number', 'smpp.command_length'];

const FACTS = [
  'frame.number',
  '_ws.col.Info',
  '_ws.malformed',
  '_ws.expert.message',
  '_ws.expert.severity',
  'tcp.segment_data',
];

/** Expert severities from warning upwards (Wireshark's epan/proto.h). */
const WARNING = 0x00600000;

/** Separates a field's values. It occurs in no number and no text of these tests. */
const SEPARATOR = '\u001f';

/**
 * Has tshark, a foreign implementation of SMPP, read a capture. `fields` are more of Wireshark's field names, such as
 * `smpp.destination_addr`. A packet that continues a long PDU belongs to the packet that ends it.
 */
export async function dissect(pcapFile: string, port: number, fields: readonly string[] = []): Promise<Dissection> {
  const tshark = await debianProgram('tshark', 'tshark');
  const asked = [...FACTS, ...FIELDS, ...fields];
  const { stdout } = await execute(
    tshark,
    [
      ...['-r', pcapFile, '-d', `tcp.port==${port},smpp`, '-Y', 'tcp.len > 0', '-o', 'tcp.desegment_tcp_streams:TRUE'],
      ...['-T', 'fields', '-E', `aggregator=${SEPARATOR}`, ...asked.flatMap((field) => ['-e', field])],
    ],
    { maxBuffer: MAX_OUTPUT },
  );

  const pdus: DissectedPacket[] = [];
  const malformed: MalformedPacket[] = [];
  for (const line of stdout.split('\n').filter((each) => each !== '')) {
    const columns = line.split('\t').map((column) => (column === '' ? [] : column.split(SEPARATOR)));
    const values = Object.fromEntries(asked.map((field, at) => [field, columns[at] ?? []]));
    const frame = Number(values['frame.number']?.[0]);
    const info = values['_ws.col.Info']?.join(' ') ?? '';
    const isSmpp = (values['smpp.command_id']?.length ?? 0) > 0;
    if (isSmpp) pdus.push({ frame, info, fields: values });
    const why = complaint(values, isSmpp);
    if (why !== undefined) malformed.push({ frame, info, why });
  }
  return { pdus, malformed };
}

function complaint(values: Readonly<Record<string, readonly string[]>>, isSmpp: boolean): string | undefined {
  if ((values['_ws.malformed']?.length ?? 0) > 0) return 'malformed';
  const severities = values['_ws.expert.severity'] ?? [];
  if (severities.some((severity) => Number(severity) >= WARNING)) return values['_ws.expert.message']?.join('; ') ?? '';
  const continues = (values['tcp.segment_data']?.length ?? 0) > 0;
  return isSmpp || continues ? undefined : 'not SMPP';
}
