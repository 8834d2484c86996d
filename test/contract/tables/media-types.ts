/** "Supported media types (chat-app)" with their `type`; stickers are WebP at the provider. */
export const MEDIA_TYPES: readonly { readonly type: string; readonly formats: readonly string[] }[] = [
  { type: 'image', formats: ['jpg', 'jpeg', 'png'] },
  { type: 'video', formats: ['mp4'] },
  { type: 'audio', formats: ['mp3', 'ogg'] },
  { type: 'document', formats: ['pdf'] },
  { type: 'sticker', formats: ['webp'] },
];

/** "formats of the spec only, others 400" (decisions.md, Chat-app). */
export const OTHER_FORMATS: readonly string[] = ['gif', 'avi', 'wav', 'docx', 'exe'];
