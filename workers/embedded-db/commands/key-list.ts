const FIRST_BYTES = 4096;

/** Keys in the order of adding, packed: each a length (u16) and its bytes. A million take some 30 MB. */
export class KeyList {
  private bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private used = 0;

  add(key: Buffer): void {
    const end = this.used + 2 + key.length;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.used));
      this.bytes = larger;
    }
    this.bytes.writeUInt16LE(key.length, this.used);
    this.bytes.set(key, this.used + 2);
    this.used = end;
  }

  /** The key that begins at `at`: 0 for the first one, then the `next` of the key before. Undefined at the end. */
  read(at: number): { readonly key: Buffer; readonly at: number; readonly next: number } | undefined {
    if (at >= this.used) return undefined;
    const next = at + 2 + this.bytes.readUInt16LE(at);
    return { key: this.bytes.subarray(at + 2, next), at, next };
  }
}
