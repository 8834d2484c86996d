/** A template as `GET /{business}/message_templates` lists it. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly status: 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED';
  readonly category: 'MARKETING' | 'UTILITY' | 'AUTHENTICATION';
  readonly components: readonly TemplateComponent[];
}

export interface TemplateComponent {
  readonly type: 'HEADER' | 'BODY' | 'FOOTER' | 'BUTTONS';
  readonly format?: 'TEXT' | 'IMAGE';
  readonly text?: string;
}

export const TEMPLATES: readonly Template[] = [
  template('1', 'order_update', 'en_US', 'APPROVED', 'Hello {{1}}, your order {{2}} has left our warehouse.'),
  template('2', 'order_update', 'hi', 'APPROVED', 'नमस्ते {{1}}, आपका ऑर्डर {{2}} भेज दिया गया है।'),
  template('3', 'welcome', 'en_US', 'APPROVED', 'Welcome! Write to us whenever you need help.'),
  template('4', 'new_offer', 'en_US', 'PENDING', 'This week only: {{1}} percent off.'),
  template('5', 'old_offer', 'en_US', 'REJECTED', 'You have won {{1}}!'),
  template('6', 'paused_offer', 'en_US', 'PAUSED', 'Only today: {{1}}.'),
  {
    ...template('7', 'picture_offer', 'en_US', 'APPROVED', 'Look what is new.'),
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Look what is new.' },
    ],
  },
];

function template(id: string, name: string, language: string, status: Template['status'], text: string): Template {
  return { id, name, language, status, category: 'UTILITY', components: [{ type: 'BODY', text }] };
}

/** Different variables `{{n}}` of a template's body. */
export function bodyVariables({ components }: Template): number {
  const text = components.find(({ type }) => type === 'BODY')?.text ?? '';
  return new Set([...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name)).size;
}

/** One page behind `after` (a template's id), with the cursors that Graph gives. */
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
