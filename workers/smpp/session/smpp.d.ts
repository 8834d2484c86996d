/** What we use of the npm package `smpp` 0.5.1: its PDU codec and the tables that drive it. It ships no types. */
declare module 'smpp' {
  interface FieldType {
    readonly default: unknown;
  }

  interface Field {
    type: FieldType;
    filter?: unknown;
  }

  class PDU {
    /** Longest command_length that is decoded. */
    static maxLength: number;
    /** Decodes one whole frame. Throws RangeError or TypeError on some malformed bodies, truncates others silently. */
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
