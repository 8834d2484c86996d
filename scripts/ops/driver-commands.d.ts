/**
 * The part of the driver that sends documents as they are, without reading them. The driver's own types leave it out. Written for
 * version 7.9.0.
 */
declare module 'mongodb/lib/cmap/commands.js' {
  /** A section of kind 1 of OP_MSG: documents of a command's field, outside the command's own document. */
  export class DocumentSequence {
    constructor(field: string);
    push(document: object, bson: Uint8Array): number;
  }
}
