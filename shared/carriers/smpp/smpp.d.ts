/** What we use of the npm package `smpp` 0.5.1, which has no types: its PDU codec and the codec's tables. */
declare module 'smpp' {
  interface FieldType {
    readonly default: unknown;
  }

  interface Field {
    type: FieldType;
    filter?: unknown;
  }

  class PDU {
    /** A PDU with a longer command_length is not decoded. */
    static maxLength: number;
    /** Decodes one whole frame. A malformed body throws RangeError or TypeError, or is cut off silently. */
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
