/** Sends documents as bytes. The driver's own types leave it out. Written for version 7.9.0. */
declare module 'mongodb/lib/cmap/commands.js' {
  /** A section of kind 1 of OP_MSG: a command's documents outside its own document. */
  export class DocumentSequence {
    constructor(field: string);
    push(document: object, bson: Uint8Array): number;
  }
}
