import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import {
  MEDIA_HEADERS,
  type MediaHeader,
  type TemplateComponents,
} from '../../../shared/templates/chat/chat-template.ts';
import { FieldProblems } from '../../http/field-problems.ts';
import type { UrlCheck } from '../../http/fields/public-url.ts';
import type { Entry } from './fill-template.ts';
import { extensionProblem } from './media-format.ts';
import type { GivenHeader } from './template-fields.ts';

/** The file in a template's header, and the request's field that has its address. */
export interface HeaderMedia {
  /** Whose it is. */
  readonly account: AccountId;
  readonly format: MediaHeader;
  readonly url: string;
  readonly field: string;
}

export function mediaOf(
  account: AccountId,
  entries: readonly Entry[],
  { header }: TemplateComponents,
  given: GivenHeader | undefined,
): HeaderMedia | undefined {
  const format = MEDIA_HEADERS.find((one) => one === header?.format);
  if (format === undefined) return undefined;
  if (given?.url !== undefined) return { account, format, url: given.url, field: 'header.url' };
  const entry = entries.find(({ param }) => param.fills === 'media');
  return entry && { account, format, url: entry.value, field: entry.field };
}

/** Checks the address by the same rules as send-media. The problems say what the address is for. */
export function checkMedia(media: HeaderMedia, urlCheck: UrlCheck, problems: FieldProblems): void {
  const { account, format, url, field } = media;
  const found = new FieldProblems();
  urlCheck.form(account, url, field, found);
  const extension = extensionProblem(format, url);
  if (extension !== undefined) found.add(field, 'unsupported_media_type', extension);
  tell(media, found, problems);
}

/** Looks up the host of an address that passed `checkMedia`. */
export async function checkMediaHost(media: HeaderMedia, urlCheck: UrlCheck, problems: FieldProblems): Promise<void> {
  const found = new FieldProblems();
  await urlCheck.host(media.account, media.url, media.field, found);
  tell(media, found, problems);
}

function tell({ format, field }: HeaderMedia, { listed }: FieldProblems, problems: FieldProblems): void {
  for (const { code, detail } of listed) {
    problems.add(field, code, `This is the https address of the ${format} in the header. ${detail}`);
  }
}
