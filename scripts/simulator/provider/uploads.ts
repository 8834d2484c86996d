import { createHash, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { TemplateError } from './check-draft.ts';
import { type GraphError, type Json, list, noObject, object } from './http.ts';
import { ERRORS } from './magic-customers.ts';
import type { ProviderOptions } from './options.ts';

/** The largest upload that is read. */
export const UPLOAD_MAX = 104_857_600;

/** Which types of file a header of a template takes. */
const HEADER_TYPES: Readonly<Record<string, readonly string[]>> = {
  IMAGE: ['image/jpeg', 'image/jpg', 'image/png'],
  VIDEO: ['video/mp4'],
  DOCUMENT: ['application/pdf'],
};
/** An answer of its own shape, or an error of the Graph API. */
type UploadAnswer = { readonly status: number; readonly body: object } | GraphError;
const TYPES = Object.values(HEADER_TYPES).flat();

/** Resumable uploads to an app, each in one piece (Graph API, "Resumable Upload API"). */
export class Uploads {
  /** The types of the files that came whole. */
  readonly taken: string[] = [];
  readonly #options: Pick<ProviderOptions, 'appId' | 'token'>;
  readonly #sessions = new Map<string, { readonly length: number; readonly type: string }>();
  readonly #handles = new Map<string, string>();

  constructor(options: Pick<ProviderOptions, 'appId' | 'token'>) {
    this.#options = options;
  }

  /** `POST /{app}/uploads?file_name&file_length&file_type`. */
  start(app: string, query: URLSearchParams, headers: IncomingHttpHeaders): UploadAnswer {
    if (!this.#knows(headers)) return ERRORS.token;
    if (app !== this.#options.appId) return { status: 400, body: noObject('POST', app) };
    const length = Number(query.get('file_length'));
    const type = query.get('file_type') ?? '';
    if (!(Number.isInteger(length) && length > 0) || !TYPES.includes(type)) {
      return { ...ERRORS.parameter, details: 'file_length or file_type is wrong' };
    }
    const session = `upload:${randomBytes(24).toString('base64url')}?sig=${randomBytes(12).toString('base64url')}`;
    this.#sessions.set(session, { length, type });
    return { status: 200, body: { id: session } };
  }

  /** `POST /{session}` with the bytes. Its scheme of authorization is `OAuth`. */
  take(session: string, bytes: Buffer, { authorization, file_offset: offset }: IncomingHttpHeaders): UploadAnswer {
    const open = this.#sessions.get(session);
    if (authorization !== `OAuth ${this.#options.token}`) return ERRORS.token;
    if (open === undefined) return refuse(404, 'SessionNotFoundError', 'There is no such upload session');
    if (offset !== '0') return refuse(412, 'OffsetInvalidError', 'Request starting offset is invalid');
    if (bytes.length !== open.length) {
      return refuse(400, 'PartialRequestError', 'Partial request (did not match length of file)');
    }
    this.#sessions.delete(session);
    const digest = createHash('sha256').update(bytes).update(session).digest('base64url');
    const handle = `4::${Buffer.from(open.type).toString('base64url')}:${digest}`;
    this.#handles.set(handle, open.type);
    this.taken.push(open.type);
    return { status: 200, body: { h: handle } };
  }

  /**
   * What is wrong with the sample of a template's header. Its handle must belong to an uploaded file of a type that the header
   * takes.
   */
  faultOf({ components }: Json): TemplateError | undefined {
    const header = list(components).find(({ type }) => type === 'HEADER');
    const types = HEADER_TYPES[String(header?.format)];
    if (types === undefined) return undefined;
    const handles = object(header?.example)?.header_handle;
    const type = Array.isArray(handles) ? this.#handles.get(String(handles[0])) : undefined;
    if (type !== undefined && types.includes(type)) return undefined;
    return {
      ...{ code: 131009, subcode: 2494102, title: 'Media handle is not valid' },
      message: 'The uploaded media handle is not valid. Upload the media again.',
    };
  }

  #knows({ authorization }: IncomingHttpHeaders): boolean {
    const { token } = this.#options;
    return authorization === `OAuth ${token}` || authorization === `Bearer ${token}`;
  }
}

/** The servers that take the bytes have an error shape of their own. */
function refuse(status: number, type: string, message: string): UploadAnswer {
  return { status, body: { debug_info: { retriable: false, type, message } } };
}
