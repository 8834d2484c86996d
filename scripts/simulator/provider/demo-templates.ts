import type { Template, TemplateButton, TemplateComponent } from './templates.ts';

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

/** WhatsApp lists the buttons of authentication templates as `URL`, with this address. */
const OTP = 'https://www.whatsapp.com/otp/code/?otp_type=';
const CODE = '*{{1}}* is your verification code. For your security, do not share this code.';

/** Cards of carousels: all of one template are alike. */
const FLOWERS = {
  components: [
    header('IMAGE'),
    body('{{1}} percent off our {{2}}.'),
    buttons(reply('Tell me more'), link('Shop', 'https://shop.example/')),
  ],
};
const PRODUCT = { components: [header('PRODUCT'), buttons({ type: 'SPM', text: 'View' })] };

type Demo = Pick<Template, 'name' | 'components'> & Partial<Template>;

/** Has at least one template for each component that can be sent, one for each status, and one that Harkara cannot send. */
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
