import { type Exchange, HttpClient } from '../../../shared/carriers/http/client.ts';
import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import type { ResolveHost } from '../../../shared/platform/runtime/resolve-host.ts';

export interface ProviderClientOptions {
  readonly provider: Pick<
    ProviderDocument,
    'baseUrl' | 'phoneNumberId' | 'businessId' | 'appId' | 'windowSize' | 'timeoutMs'
  >;
  readonly token: string;
  readonly resolve?: ResolveHost;
}

/** An answer to a send has some hundred bytes, but a proxy's error page can be long. */
const SEND_ANSWER_BYTES_MAX = 65_536;
/** A page of the list has up to 50 templates of some KB. */
const TEMPLATES_ANSWER_BYTES_MAX = 1_048_576;
/** Connections for the templates, in addition to those for sends. */
const MORE_SOCKETS = 2;
const TEMPLATES_PAGE = 50;
const TEMPLATE_FIELDS = 'name,status,category,language,components,parameter_format,id,rejected_reason,quality_score';
/** The time limit of an upload of up to 16 MB. */
const UPLOAD_MS = 60_000;

/** The requests to one account's provider. None rejects: failures are exchanges too. */
export class ProviderClient {
  readonly #http: HttpClient;
  readonly #options: ProviderClientOptions;

  constructor(options: ProviderClientOptions) {
    this.#options = options;
    const { provider, token, resolve } = options;
    this.#http = new HttpClient({
      sockets: provider.windowSize + MORE_SOCKETS,
      idleSockets: provider.windowSize,
      timeoutMs: provider.timeoutMs,
      headers: { authorization: `Bearer ${token}` },
      ...defined({ resolve }),
    });
  }

  send(payload: Buffer): Promise<Exchange> {
    const { baseUrl, phoneNumberId } = this.#options.provider;
    return this.#http.exchange({
      method: 'POST',
      url: `${baseUrl}/${phoneNumberId}/messages`,
      body: payload,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Asks for the account's number, which changes nothing there; `health_status`: whether it may send. */
  number(field: 'id' | 'health_status' = 'id'): Promise<Exchange> {
    const { baseUrl, phoneNumberId } = this.#options.provider;
    return this.#http.exchange({
      method: 'GET',
      url: `${baseUrl}/${phoneNumberId}?fields=${field}`,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** The page of the business's templates that follows the cursor, or of those with a name. */
  templates(after: string | undefined, name?: string): Promise<Exchange> {
    const query = new URLSearchParams({
      fields: TEMPLATE_FIELDS,
      limit: String(TEMPLATES_PAGE),
      ...defined({ name, after }),
    });
    return this.#http.exchange({
      method: 'GET',
      url: `${this.#templatesUrl}?${query}`,
      answerBytesMax: TEMPLATES_ANSWER_BYTES_MAX,
    });
  }

  /** Asks for a new template, or for another content of the one with `upstreamId`. */
  submitTemplate(payload: Buffer, upstreamId?: string): Promise<Exchange> {
    const { baseUrl } = this.#options.provider;
    return this.#http.exchange({
      method: 'POST',
      url: upstreamId === undefined ? this.#templatesUrl : `${baseUrl}/${encodeURIComponent(upstreamId)}`,
      body: payload,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Without the id the provider would delete the template in all languages. */
  deleteTemplate(name: string, upstreamId: string): Promise<Exchange> {
    const query = new URLSearchParams({ hsm_id: upstreamId, name });
    return this.#http.exchange({
      method: 'DELETE',
      url: `${this.#templatesUrl}?${query}`,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
    });
  }

  /** Begins an upload of a file to the provider's app: step 1 of its resumable upload. */
  startUpload(file: { readonly name: string; readonly mime: string }, length: number, signal: AbortSignal) {
    const { baseUrl, appId = '' } = this.#options.provider;
    const query = new URLSearchParams({ file_name: file.name, file_length: String(length), file_type: file.mime });
    return this.#http.exchange({
      method: 'POST',
      url: `${baseUrl}/${appId}/uploads?${query}`,
      headers: this.#uploadHeaders,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
      signal,
    });
  }

  /** Step 2: the file as a whole. `session` is `upload:…?sig=…`, query included. */
  upload(session: string, body: Buffer, signal: AbortSignal): Promise<Exchange> {
    return this.#http.exchange({
      method: 'POST',
      url: `${this.#options.provider.baseUrl}/${session}`,
      body,
      headers: { ...this.#uploadHeaders, file_offset: '0', 'content-type': 'application/octet-stream' },
      timeoutMs: UPLOAD_MS,
      answerBytesMax: SEND_ANSWER_BYTES_MAX,
      signal,
    });
  }

  /** The only calls with this scheme (Graph API, "Resumable Upload API"). */
  get #uploadHeaders() {
    return { authorization: `OAuth ${this.#options.token}` };
  }

  get #templatesUrl(): string {
    const { baseUrl, businessId } = this.#options.provider;
    return `${baseUrl}/${businessId}/message_templates`;
  }

  /** Cuts off requests in progress (their answers are unknown then) and closes all connections. */
  close(): void {
    this.#http.close();
  }
}
