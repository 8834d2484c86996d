/** A template as `GET /{business}/message_templates` lists it. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly status: 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED';
  readonly category: 'MARKETING' | 'UTILITY' | 'AUTHENTICATION';
  /** Absent means positional. */
  readonly parameter_format?: 'POSITIONAL' | 'NAMED';
  readonly components: readonly TemplateComponent[];
  readonly rejected_reason?: string;
  readonly quality_score?: { readonly score: string; readonly date: number };
}

export interface TemplateComponent {
  readonly type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS' | 'CAROUSEL' | 'LIMITED_TIME_OFFER' | 'ORDER_DETAILS';
  readonly format?: 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT' | 'LOCATION' | 'PRODUCT';
  readonly text?: string;
  readonly buttons?: readonly TemplateButton[];
  readonly limited_time_offer?: { readonly text: string; readonly has_expiration?: boolean };
  readonly cards?: readonly { readonly components: readonly TemplateComponent[] }[];
}

export interface TemplateButton {
  readonly type:
    | 'QUICK_REPLY'
    | 'URL'
    | 'PHONE_NUMBER'
    | 'COPY_CODE'
    | 'CATALOG'
    | 'MPM'
    | 'SPM'
    | 'FLOW'
    | 'VOICE_CALL';
  readonly text: string;
  readonly url?: string;
  readonly phone_number?: string;
  readonly flow_id?: string;
}

export function componentOf(
  { components }: Pick<Template, 'components'>,
  type: TemplateComponent['type'],
): TemplateComponent | undefined {
  return components.find((component) => component.type === type);
}

/** The variables of a text without repetition, in the order in which they first appear. */
export function variables(text: string | undefined): readonly string[] {
  return [...new Set([...(text ?? '').matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name ?? ''))];
}

/** The page that follows the template with the id `after`, with cursors as the Graph API gives them. */
export function templatePage(
  templates: readonly Template[],
  after: string | null,
  limit: number,
  next: (after: string) => string,
): object {
  const start = after === null ? 0 : templates.findIndex(({ id }) => cursor(id) === after) + 1;
  const data = templates.slice(start, start + limit);
  const first = data.at(0);
  const last = data.at(-1);
  if (first === undefined || last === undefined) return { data: [] };
  const more = start + limit < templates.length;
  return {
    data,
    paging: {
      cursors: { before: cursor(first.id), after: cursor(last.id) },
      ...(more ? { next: next(cursor(last.id)) } : {}),
    },
  };
}

function cursor(id: string): string {
  return Buffer.from(`template ${id}`).toString('base64url');
}
