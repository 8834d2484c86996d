import type { Db } from 'mongodb';
import type { Exchange } from '../../shared/carriers/http/client.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { errorFields, type Log } from '../../shared/platform/runtime/log.ts';
import {
  type ChatTemplateDocument,
  type ChatTemplateRequestDocument,
  MEDIA_HEADERS,
  type TemplateComponents,
  type TemplateDraft,
} from '../../shared/templates/chat/chat-template.ts';
import {
  askLater,
  findChatTemplate,
  finishRequest,
  forgetTemplate,
  markAsked,
  refuseRequest,
  replaceListed,
} from '../../shared/templates/chat/store.ts';
import type { HeaderSamples } from './header-samples.ts';
import type { ProviderClient } from './provider/client.ts';
import { readTemplates } from './provider/template-list.ts';
import {
  judgeTemplateAnswer,
  type SampleHandles,
  type TemplateVerdict,
  templatePayload,
} from './provider/template-request.ts';

export interface TemplateRequestsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly client: ProviderClient;
  readonly samples: HeaderSamples;
  readonly noted: boolean;
  held(): boolean;
  /** Copies the provider's list soon: a callback that came before the answer was about a template unknown here. */
  copyTemplates(): void;
  /** Stores why the provider could not be asked, for the operator. Undefined when it has answered a request. */
  note(trouble: string | undefined): Promise<void>;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5 * 60_000;
const GONE = 'The provider has no such template any more.';

/**
 * The intent is stored before the provider is asked, one request after the other. If it is unknown what the provider
 * did, its list is read by name first: nothing is asked twice, and nothing is forgotten.
 */
export class TemplateRequests {
  readonly #options: TemplateRequestsOptions;
  #working: Promise<void> | undefined;
  #closed = false;
  #noted: boolean;
  /** Breaks off header files on their way: sending them again costs nothing. */
  readonly #closing = new AbortController();

  constructor(options: TemplateRequestsOptions) {
    this.#options = options;
    this.#noted = options.noted;
  }

  /** Does nothing while others are worked on: the next look finds these again. */
  work(requests: readonly ChatTemplateRequestDocument[]): void {
    if (this.#closed || this.#working !== undefined) return;
    this.#working = this.#all(requests).finally(() => {
      this.#working = undefined;
    });
  }

  /** Close the client after this. That ends a request that is in progress. */
  close(): void {
    this.#closed = true;
    this.#closing.abort();
  }

  async ended(): Promise<void> {
    await this.#working;
  }

  async #all(requests: readonly ChatTemplateRequestDocument[]): Promise<void> {
    const { log } = this.#options;
    for (const request of requests) {
      if (this.#closed || !this.#options.held()) return;
      try {
        await this.#one(request);
      } catch (error) {
        log.warn('template_request_failed', {
          account: request.account,
          template: request.name,
          ...errorFields(error),
        });
        return;
      }
    }
  }

  async #one(request: ChatTemplateRequestDocument): Promise<void> {
    const { db, clock } = this.#options;
    if (request.askedAt !== undefined) {
      const listed = await this.#readBack(request);
      if (typeof listed === 'string') return this.#unanswered(request, listed);
      if (isDone(request, listed)) return this.#done(request, { kind: 'done' }, listed);
    }
    // Before the request is marked as asked: until the file is uploaded, the account may still change its mind.
    const sample = await this.#samplesOf(request);
    if (this.#closed) return;
    if (sample.kind === 'unread') return this.#later(request, sample.reason);
    if (sample.kind === 'later') return this.#unanswered(request, sample.reason);
    if (sample.kind === 'refused') return refuseRequest(db, request, sample.reason, clock.now());
    if (request.askedAt === undefined && !(await markAsked(db, request, clock.now()))) return;
    crashPoint('template:asked');
    const verdict = await this.#ask(request, sample.value);
    crashPoint('template:answered');
    await this.#conclude(request, verdict);
  }

  async #conclude(request: ChatTemplateRequestDocument, verdict: TemplateVerdict): Promise<void> {
    const { db, clock } = this.#options;
    if (verdict.kind === 'done') return this.#done(request, verdict, undefined);
    if (verdict.kind === 'later') return this.#unanswered(request, verdict.reason);
    let { reason } = verdict;
    if (verdict.kind !== 'refused') {
      const listed = await this.#readBack(request);
      if (typeof listed === 'string') return this.#unanswered(request, listed);
      if (isDone(request, listed)) return this.#done(request, { kind: 'done' }, listed);
      if (verdict.kind === 'no_access') {
        // The list can be read, so the business is the right one: a template that it does not have was deleted there.
        if (request.wants === 'create' || listed !== undefined) return this.#unanswered(request, reason);
        reason = GONE;
      }
    }
    await this.#note(undefined);
    await refuseRequest(db, request, reason, clock.now());
  }

  /** The handles of the headers' sample files, one after the other; or the first file without a handle, and why. */
  async #samplesOf({ account, wants, draft, tries }: ChatTemplateRequestDocument) {
    const { samples, client } = this.#options;
    if (wants === 'delete' || draft === undefined) return { kind: 'done', value: {} } as const;
    const { components, examples } = draft;
    const { cards = [] } = components;
    const headers = [[components, examples] as const, ...cards.map((card, i) => [card, examples.cards?.[i]] as const)];
    const handles: (string | undefined)[] = [];
    for (const [{ header }, { headerUrl: url } = {}] of headers) {
      const format = MEDIA_HEADERS.find((one) => one === header?.format);
      if (format === undefined || url === undefined) {
        handles.push(undefined);
        continue;
      }
      const sample = await samples.handOver({ account, format, url, tries }, client, this.#closing.signal);
      if (sample.kind !== 'done') return sample;
      handles.push(sample.value);
    }
    const [header, ...ofCards] = handles;
    return { kind: 'done', value: { header, cards: ofCards } } as const;
  }

  async #ask(request: ChatTemplateRequestDocument, handles: SampleHandles): Promise<TemplateVerdict> {
    const { db, client } = this.#options;
    const { name, language, wants, draft } = request;
    if (wants === 'create' && draft !== undefined) {
      return judgeTemplateAnswer(
        await client.submitTemplate(templatePayload(draft, { name, language, category: draft.category }, handles)),
      );
    }
    const known = await findChatTemplate(db, request, name, language);
    const listed = known?.upstreamId === undefined ? await this.#readBack(request) : known;
    if (typeof listed === 'string') return { kind: 'later', reason: listed };
    if (listed?.upstreamId === undefined) return { kind: 'refused', reason: GONE };
    const { upstreamId } = listed;
    const exchange: Exchange =
      wants === 'edit' && draft !== undefined
        ? await client.submitTemplate(templatePayload(draft, categoryOf(draft, listed), handles), upstreamId)
        : await client.deleteTemplate(name, upstreamId);
    return judgeTemplateAnswer(exchange);
  }

  /** The template as the provider lists it now, undefined if it lists none, or in a text why there is no list. */
  async #readBack(owner: ChatTemplateRequestDocument): Promise<ChatTemplateDocument | undefined | string> {
    const { name, language } = owner;
    const { client, clock } = this.#options;
    const list = await readTemplates({ owner, clock, ask: (after) => client.templates(after, name) });
    if (typeof list === 'string') return list;
    return list.templates.find((one) => one.name === name && one.language === language);
  }

  async #done(
    request: ChatTemplateRequestDocument,
    verdict: Extract<TemplateVerdict, { kind: 'done' }>,
    listed: ChatTemplateDocument | undefined,
  ): Promise<void> {
    const { db, clock } = this.#options;
    await this.#note(undefined);
    if (request.wants === 'delete') {
      if (await forgetTemplate(db, request)) return;
      return this.#later(request, 'Webhooks are still to be told of an earlier change.');
    }
    // The review may have ended before the answer was read: the list has its result, and callbacks in between count.
    const begunAt = clock.now();
    const now = listed ?? (await this.#readBack(request));
    const isListed = typeof now === 'object';
    await replaceListed(db, [isListed ? now : await this.#templateOf(request, verdict)], begunAt);
    await finishRequest(db, request);
    if (!isListed) this.#options.copyTemplates();
  }

  /** The template as the answer describes it, until the provider's list is read again. */
  async #templateOf(
    request: ChatTemplateRequestDocument,
    { upstreamId, status = 'pending', category }: Extract<TemplateVerdict, { kind: 'done' }>,
  ): Promise<ChatTemplateDocument> {
    const { _id, account, business, name, language, draft } = request;
    const { db, clock } = this.#options;
    const known = await findChatTemplate(db, request, name, language);
    const { components = { buttons: [] }, category: wanted = 'utility' } = draft ?? {};
    const id = upstreamId ?? known?.upstreamId;
    return {
      ...{ _id, account, business, name, language, status, category: category ?? known?.category ?? wanted },
      ...(id === undefined ? {} : { upstreamId: id }),
      variables: new Set(components.body?.match(/\{\{\d+\}\}/g)).size,
      components,
      syncedAt: clock.now(),
    };
  }

  /** The provider could not be asked, or did not say. The account cannot help that, so the operator is told. */
  async #unanswered(request: ChatTemplateRequestDocument, reason: string): Promise<void> {
    await this.#note(reason);
    await this.#later(request, reason);
  }

  async #note(trouble: string | undefined): Promise<void> {
    if (trouble === undefined && !this.#noted) return;
    await this.#options.note(trouble);
    this.#noted = trouble !== undefined;
  }

  async #later(request: ChatTemplateRequestDocument, reason: string): Promise<void> {
    const { db, clock, log } = this.#options;
    const { account, name, tries } = request;
    log.warn('template_request_waits', { account, template: name, tries: tries + 1, reason });
    const pauseMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 16));
    await askLater(db, request, new Date(clock.now().getTime() + pauseMs));
  }
}

/** The category that an edit changes. An approved template's category cannot be changed. */
function categoryOf(
  { category }: TemplateDraft,
  listed: Pick<ChatTemplateDocument, 'status' | 'category'>,
): { readonly category?: TemplateDraft['category'] } {
  return listed.status === 'approved' || listed.category === category ? {} : { category };
}

function isDone({ wants, draft }: ChatTemplateRequestDocument, listed: ChatTemplateDocument | undefined): boolean {
  if (wants === 'delete') return listed === undefined;
  // A code template's texts are the provider's own: the list can only show that it is there, or under review again.
  if (draft?.code !== undefined) return wants === 'create' ? listed !== undefined : listed?.status === 'pending';
  // The list shows neither the sample file nor the examples. But a template that is under review was edited.
  const hasFile =
    draft !== undefined && [draft.examples, ...(draft.examples.cards ?? [])].some(({ headerUrl }) => headerUrl);
  if (wants === 'edit' && hasFile && listed?.status !== 'pending') return false;
  // A rejected template with the same text may or may not have been edited. Asking again costs only another review.
  if (wants === 'edit' && listed?.status === 'rejected') return false;
  return listed?.components !== undefined && draft !== undefined && sameText(listed.components, draft.components);
}

/** The label of a copy-code button is the provider's own. */
function sameText(listed: TemplateComponents, wanted: TemplateDraft['components']): boolean {
  return JSON.stringify(textsOf(listed)) === JSON.stringify(textsOf(wanted));
}

function textsOf({ header, body, footer, offer, buttons, cards }: TemplateComponents): readonly unknown[] {
  return [
    [header?.format, header?.format === 'text' ? header.text : undefined, body, footer, offer?.text, offer?.expires],
    buttons.map(({ type, text, url, phoneNumber }) => [type, type === 'copy_code' ? '' : text, url, phoneNumber]),
    cards?.map(textsOf),
  ];
}
