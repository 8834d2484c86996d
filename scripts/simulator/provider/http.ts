import type { IncomingMessage, ServerResponse } from 'node:http';

/** A Graph API error with the Cloud API's members. */
export interface GraphError {
  readonly http: number;
  readonly code: number;
  readonly title: string;
  readonly details: string;
}

/** A Business Management API error: mostly code 100, with a subcode and words for people. */
export interface TemplateError {
  readonly code?: number;
  readonly subcode: number;
  readonly title: string;
  readonly message: string;
}

const BODY_MAX = 1_000_000;

/** Undefined if the body is longer than `max`. Rejects if the sender breaks off. */
export async function readBody(request: IncomingMessage, max = BODY_MAX): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let octets = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    octets += chunk.length;
    if (octets > max) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Undefined for anything but a JSON object. */
export function jsonObject(text: string): Json | undefined {
  try {
    return object(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

export function sendError(response: ServerResponse, error: GraphError): void {
  sendJson(response, error.http, {
    error: {
      message: `(#${error.code}) ${error.title}`,
      type: 'OAuthException',
      code: error.code,
      error_data: { messaging_product: 'whatsapp', details: error.details },
      fbtrace_id: 'simulated',
    },
  });
}

/** The Graph API's answer for an unknown id, or one that the token may not use. */
export function sendNoObject(response: ServerResponse, method: string, id: string): void {
  sendJson(response, 400, noObject(method, id));
}

export function noObject(method: string, id: string): Json {
  return {
    error: {
      message: `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation`,
      type: 'GraphMethodException',
      code: 100,
      error_subcode: 33,
      fbtrace_id: 'simulated',
    },
  };
}

export type Json = Readonly<Record<string, unknown>>;

export function object(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined; // parsed JSON
}

export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.map((one) => object(one) ?? {}) : [];
}

export function filled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** The first member that is not in `allowed`. */
export function surplus(value: Json, allowed: readonly string[]): string | undefined {
  return Object.keys(value).find((key) => !allowed.includes(key));
}
