import type { MediaHeader } from '../../../shared/templates/chat/chat-template.ts';

/** A type of file that the provider's upload takes (Graph API, "Resumable Upload API"). */
export interface SampleType {
  readonly mime: string;
  /** The name that the file gets there. */
  readonly name: string;
}

interface Rule {
  /** In words, for who gave the file. */
  readonly takes: string;
  readonly bytesMax: number;
  readonly types: readonly (SampleType & { readonly begins: Buffer; readonly at?: number })[];
}

const MB = 1_048_576;
const JPEG = { mime: 'image/jpeg', name: 'sample.jpg', begins: Buffer.from('ffd8ff', 'hex') };
const PNG = { mime: 'image/png', name: 'sample.png', begins: Buffer.from('89504e470d0a1a0a', 'hex') };
/** ISO/IEC 14496-12 §4.3: a size of four bytes stands before it. */
const MP4 = { mime: 'video/mp4', name: 'sample.mp4', begins: Buffer.from('ftyp'), at: 4 };
const PDF = { mime: 'application/pdf', name: 'sample.pdf', begins: Buffer.from('%PDF-') };

/**
 * What may stand in a header (WhatsApp Cloud API, "Supported media types"). The provider takes documents of 100 MB; a sample of
 * one needs not be that large, and it is held in memory.
 */
export const SAMPLE_RULES: Readonly<Record<MediaHeader, Rule>> = {
  image: { takes: 'a JPEG or PNG image', bytesMax: 5 * MB, types: [JPEG, PNG] },
  video: { takes: 'an MP4 video', bytesMax: 16 * MB, types: [MP4] },
  document: { takes: 'a PDF document', bytesMax: 16 * MB, types: [PDF] },
};

/** The type of a file by its first bytes, because servers often name another one. Undefined when it fits no such header. */
export function sampleType(format: MediaHeader, bytes: Buffer): SampleType | undefined {
  return SAMPLE_RULES[format].types.find(({ begins, at = 0 }) => bytes.subarray(at, at + begins.length).equals(begins));
}
