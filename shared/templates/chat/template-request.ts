import type { AccountId, RequestId } from '../../platform/runtime/ids.ts';
import type { ChatTemplateDocument, TemplateComponents, UnannouncedStatus } from './chat-template.ts';

/** Categories that an account may ask for. Authentication templates have texts of WhatsApp's own: of them `code` says the rest. */
export const CHAT_CATEGORIES = ['marketing', 'utility', 'authentication'] as const;

/** A template as its account wrote it. */
export interface TemplateDraft {
  readonly category: (typeof CHAT_CATEGORIES)[number];
  readonly components: TemplateComponents;
  readonly examples: DraftExamples & { readonly cards?: readonly DraftExamples[] };
  /** Of an authentication template, which has nothing else but its button. */
  readonly code?: CodeDraft;
}

/** For the review, of a template or of a card of it. */
export interface DraftExamples {
  readonly header?: string;
  /** Of a header that is a file: where a sample of it is. The provider gets the file itself. */
  readonly headerUrl?: string;
  /** One for each variable of the body, in their order. */
  readonly body: readonly string[];
  /** By the index of the button. */
  readonly buttons: readonly (string | null)[];
}

/** How the code of an authentication template gets into the app (WhatsApp, "Authentication templates"). */
export interface CodeDraft {
  readonly type: (typeof CODE_TYPES)[number];
  readonly securityAdvice: boolean;
  readonly expiresMinutes?: number;
  readonly buttonText?: string;
  readonly autofillText?: string;
  /** The apps of one tap and zero tap; the terms are those of zero tap. */
  readonly apps?: readonly { readonly package_name: string; readonly signature_hash: string }[];
  readonly termsAccepted?: true;
  /** After how long the provider gives up. */
  readonly ttlSeconds?: number;
}

export const CODE_TYPES = ['copy_code', 'one_tap', 'zero_tap'] as const;

/**
 * What an account wants of a template at its provider: the intent that the chatapp worker carries out. It decides by itself what
 * is asked; what the provider then has is in `chat_templates`. It stays after the answer, so that the account can see when it
 * asked and edit what it wrote.
 *
 * `due` → (`askedAt`: the provider was perhaps asked, so its list is read before it is asked again) → no `due`, perhaps `refusal`.
 */
export interface ChatTemplateRequestDocument {
  /** The id of the template. */
  readonly _id: ChatTemplateDocument['_id'];
  readonly account: AccountId;
  /** The id of the business account that is to have it. */
  readonly business: string;
  readonly name: string;
  readonly language: string;
  readonly wants: 'create' | 'edit' | 'delete';
  /** Absent for a template that the account did not write here and wants deleted. */
  readonly draft?: TemplateDraft;
  /** The API request that asked for it; another one replaces it. */
  readonly request: RequestId;
  readonly requestedAt: Date;
  /** When to ask the provider (again). Unset when it has answered. */
  readonly due?: Date;
  readonly askedAt?: Date;
  readonly tries: number;
  /** Why the provider did not do it. */
  readonly refusal?: string;
  readonly unannounced?: readonly UnannouncedStatus[];
  /** Its place among the templates that the account asked for (quotas.ts). */
  readonly place?: number;
}
