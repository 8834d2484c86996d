/** A template as `GET /{business}/message_templates` lists it. */
export interface Template {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly status: 'APPROVED' | 'PENDING' | 'REJECTED' | 'PAUSED' | 'DISABLED';
  readonly category: 'MARKETING' | 'UTILITY' | 'AUTHENTICATION';
  /** Absent: positional. */
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

/** Distinct variables in order of appearance. */
export function variables(text: string | undefined): readonly string[] {
  return [...new Set([...(text ?? '').matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name ?? ''))];
}

/** The page after the template with id `after`, with Graph API cursors. */
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

const body = (text: string): TemplateComponent => ({ type: 'BODY', text });
const footer = (text: string): TemplateComponent => ({ type: 'FOOTER', text });
const header = (format: TemplateComponent['format'], text?: string): TemplateComponent => ({
  type: 'HEADER',
  ...(format === undefined ? {} : { format }),
  ...(text === undefined ? {} : { text }),
});
const buttons = (...all: readonly TemplateButton[]): TemplateComponent => ({ type: 'BUTTONS', buttons: all });
const reply = (text: string): TemplateButton => ({ type: 'QUICK_REPLY', text });
const link = (text: string, url: string): TemplateButton => ({ type: 'URL', text, url });

/** WhatsApp lists authentication templates' buttons as `URL` with this address. */
const OTP = 'https://www.whatsapp.com/otp/code/?otp_type=';
const CODE = '*{{1}}* is your verification code. For your security, do not share this code.';

/** All cards of one template are alike. */
const FLOWERS = {
  components: [
    header('IMAGE'),
    body('{{1}} percent off our {{2}}.'),
    buttons(reply('Tell me more'), link('Shop', 'https://shop.example/')),
  ],
};
const PRODUCT = { components: [header('PRODUCT'), buttons({ type: 'SPM', text: 'View' })] };

type Demo = Pick<Template, 'name' | 'components'> & Partial<Template>;

/** At least one template for each sendable component, one for each status, and one that Harkara cannot send. */
const DEMOS: readonly Demo[] = [
  { name: 'order_update', components: [body('Hello {{1}}, your order {{2}} has left our warehouse.')] },
  { name: 'order_update', language: 'hi', components: [body('नमस्ते {{1}}, आपका ऑर्डर {{2}} भेज दिया गया है।')] },
  { name: 'welcome', components: [body('Welcome! Write to us whenever you need help.')] },
  { name: 'new_offer', status: 'PENDING', components: [body('This week only: {{1}} percent off.')] },
  { name: 'old_offer', status: 'REJECTED', components: [body('You have won {{1}}!')] },
  { name: 'paused_offer', status: 'PAUSED', components: [body('Only today: {{1}}.')] },
  { name: 'picture_offer', components: [header('IMAGE'), body('Look what is new.')] },
  { name: 'disabled_offer', status: 'DISABLED', components: [body('Never again: {{1}}.')] },
  {
    name: 'order_shipped',
    components: [
      header('IMAGE'),
      body('Hello {{1}}, your order {{2}} is on its way.'),
      footer('Harkara Demo Shop'),
      buttons(reply('Where is it?'), reply('Call me back'), link('Track', 'https://shop.example/track/{{1}}'), {
        type: 'PHONE_NUMBER',
        text: 'Call us',
        phone_number: '+918000000001',
      }),
    ],
  },
  {
    name: 'sale_begins',
    category: 'MARKETING',
    components: [header('TEXT', '{{1}} has begun'), body('Hello {{1}}, everything is {{2}} percent cheaper.')],
  },
  { name: 'how_to', components: [header('VIDEO'), body('How to use it, in one minute.')] },
  { name: 'invoice', components: [header('DOCUMENT'), body('Hello {{1}}, here is your invoice.')] },
  { name: 'store_visit', components: [header('LOCATION'), body('Hello {{1}}, your order waits here.')] },
  {
    name: 'appointment',
    parameter_format: 'NAMED',
    components: [
      header('TEXT', 'Hello {{first_name}}'),
      body('{{doctor}} expects you at {{time}}. Bring your letter.'),
    ],
  },
  {
    name: 'coupon',
    category: 'MARKETING',
    components: [
      body('{{1}} percent off for you.'),
      buttons(link('Shop', 'https://shop.example/'), { type: 'COPY_CODE', text: 'Copy offer code' }),
    ],
  },
  {
    name: 'login_code',
    category: 'AUTHENTICATION',
    components: [
      body(CODE),
      footer('This code expires in 5 minutes.'),
      buttons(link('Copy code', `${OTP}COPY_CODE&code=otp{{1}}`)),
    ],
  },
  {
    name: 'login_code_one_tap',
    category: 'AUTHENTICATION',
    components: [body(CODE), buttons(link('Autofill', `${OTP}ONE_TAP&package_name=com.example&code=otp{{1}}`))],
  },
  {
    name: 'login_code_zero_tap',
    category: 'AUTHENTICATION',
    components: [body(CODE), buttons(link('Copy code', `${OTP}ZERO_TAP&package_name=com.example&code=otp{{1}}`))],
  },
  {
    name: 'catalogue',
    category: 'MARKETING',
    components: [body('Hello {{1}}, see what we have.'), buttons({ type: 'CATALOG', text: 'View catalog' })],
  },
  {
    name: 'sign_up',
    components: [body('Join us in two steps.'), buttons({ type: 'FLOW', text: 'Sign up', flow_id: '1' })],
  },
  {
    name: 'season',
    category: 'MARKETING',
    components: [body('Our season, {{1}}.'), { type: 'CAROUSEL', cards: [FLOWERS, FLOWERS] }],
  },
  {
    name: 'new_in_shop',
    category: 'MARKETING',
    components: [body('New for you, {{1}}.'), { type: 'CAROUSEL', cards: [PRODUCT, PRODUCT] }],
  },
  {
    name: 'back_in_stock',
    category: 'MARKETING',
    components: [header('PRODUCT'), body('It is back, {{1}}.'), buttons({ type: 'SPM', text: 'View' })],
  },
  {
    name: 'forgotten_cart',
    category: 'MARKETING',
    components: [
      header('TEXT', 'Forgot something, {{1}}?'),
      body('Your cart waits. Take {{1}} off.'),
      buttons({ type: 'MPM', text: 'View items' }),
    ],
  },
  {
    name: 'flash_sale',
    category: 'MARKETING',
    components: [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring offer!', has_expiration: true } },
      body('Only for you, {{1}}.'),
      buttons({ type: 'COPY_CODE', text: 'Copy offer code' }, link('Shop', 'https://shop.example/{{1}}')),
    ],
  },
  { name: 'pay_now', components: [body('Pay {{1}}.'), { type: 'ORDER_DETAILS' }] },
];

export const TEMPLATES: readonly Template[] = DEMOS.map((demo, i) => ({
  id: String(i + 1),
  language: 'en_US',
  status: 'APPROVED',
  category: 'UTILITY',
  ...demo,
}));

interface Step {
  readonly event: 'APPROVED' | 'REJECTED' | 'PAUSED' | 'DISABLED';
  readonly reason?: string;
  readonly info?: object;
}

/** Review results by a word in the template's name. docs/magic-numbers.md has the same table for people. */
export const MAGIC_TEMPLATES: readonly {
  readonly contains: string;
  readonly meaning: string;
  readonly steps: readonly Step[];
}[] = [
  {
    contains: 'refused',
    meaning: 'rejected (INVALID_FORMAT), with reason and recommendation',
    steps: [
      {
        event: 'REJECTED',
        reason: 'INVALID_FORMAT',
        info: {
          rejection_info: {
            reason: 'Your template has parameters placed next to each other.',
            recommendation: 'Separate the parameters with words.',
          },
        },
      },
    ],
  },
  {
    contains: 'scam',
    meaning: 'rejected (SCAM), without words',
    steps: [{ event: 'REJECTED', reason: 'SCAM' }],
  },
  {
    contains: 'paused',
    meaning: 'approved, then paused for the first time',
    steps: [
      { event: 'APPROVED' },
      {
        event: 'PAUSED',
        info: { other_info: { title: 'FIRST_PAUSE', description: 'The template is paused for 3 hours.' } },
      },
    ],
  },
  {
    contains: 'disabled',
    meaning: 'approved, then disabled for good',
    steps: [{ event: 'APPROVED' }, { event: 'DISABLED', info: { disable_info: { disable_date: '1751234563' } } }],
  },
  { contains: 'endless', meaning: 'never reviewed', steps: [] },
];
