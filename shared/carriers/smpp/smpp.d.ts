/** The parts of the npm package `smpp` 0.5.1 that we use: its PDU codec and the codec's tables. The package has no types. */
declare module 'smpp' {
  interface FieldType {
    readonly default: unknown;
  }

  interface Field {
    type: FieldType;
    filter?: unknown;
  }

  class PDU {
    /** The codec decodes no PDU with a longer command_length. */
    static maxLength: number;
    /** Decodes one whole frame. If the body is malformed, it throws RangeError or TypeError, or cuts values off silently. */
    constructor(frame: Buffer);
    constructor(command: string, fields: Readonly<Record<string, unknown>>);
    [field: string]: unknown;
    toBuffer(): Buffer;
  }

  const smpp: {
    readonly PDU: typeof PDU;
    readonly commands: Readonly<Record<string, { readonly id: number; readonly params?: Record<string, Field> }>>;
    readonly tlvs: Record<string, Field>;
    readonly types: { readonly tlv: { readonly string: FieldType; readonly buffer: FieldType } };
  };
  export = smpp;
}
