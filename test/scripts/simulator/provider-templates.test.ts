import { checkSend } from '../../../scripts/simulator/provider/check-send.ts';
import { TEMPLATES } from '../../../scripts/simulator/provider/templates.ts';

type Parameter = Readonly<Record<string, unknown>>;

const text = (value: string, name?: string): Parameter =>
  name === undefined ? { type: 'text', text: value } : { type: 'text', parameter_name: name, text: value };
const header = (...parameters: readonly Parameter[]) => ({ type: 'header', parameters });
const body = (...values: readonly string[]) => ({ type: 'body', parameters: values.map((value) => text(value)) });
const button = (subType: string, index: string, parameter: Parameter) => ({
  type: 'button',
  sub_type: subType,
  index,
  parameters: [parameter],
});
const url = (index: string, value: string) => button('url', index, text(value));
const IMAGE = { type: 'image', image: { link: 'https://x.example/a.jpg' } };
const PLACE = { latitude: '12.9', longitude: '77.6', name: 'Shop', address: 'MG Road' };
const TO_SHIPPED = [header(IMAGE), body('Asha', '12'), url('2', '12')];
const NAMED = {
  type: 'body',
  parameters: [text('Dr Rao', 'doctor'), text('10:30', 'time')],
};
const COUPON = button('copy_code', '1', { type: 'coupon_code', coupon_code: '25OFF' });

function check(name: string, components: readonly object[] | undefined, language = 'en_US') {
  const template = { name, language: { code: language }, ...(components === undefined ? {} : { components }) };
  return checkSend({ messaging_product: 'whatsapp', to: '+919876543210', type: 'template', template }, TEMPLATES);
}

describe('the simulated chat-app provider: templates', () => {
  const GOOD: readonly (readonly [name: string, components: readonly object[] | undefined])[] = [
    ['welcome', undefined],
    ['order_update', [body('Asha', '12')]],
    ['order_shipped', TO_SHIPPED],
    [
      'order_shipped',
      [...TO_SHIPPED.slice(0, 2), button('quick_reply', '0', { type: 'payload', payload: 'Y' }), url('2', '1')],
    ],
    ['sale_begins', [header(text('Summer')), body('Asha', '25')]],
    ['how_to', [header({ type: 'video', video: { id: '1339' } })]],
    [
      'invoice',
      [header({ type: 'document', document: { link: 'https://x.example/1', filename: 'a.pdf' } }), body('Asha')],
    ],
    ['store_visit', [header({ type: 'location', location: PLACE }), body('Asha')]],
    ['appointment', [header(text('Asha', 'first_name')), NAMED]],
    ['coupon', [body('25'), COUPON]],
    ['login_code', [body('482913'), url('0', '482913')]],
    ['catalogue', [body('Asha')]],
    ['sign_up', [button('flow', '0', { type: 'action', action: { flow_token: 'unused' } })]],
  ];
  for (const [name, components] of GOOD) {
    it(`takes ${name} as documented, with ${components?.length ?? 0} components`, () => {
      expect(check(name, components)).to.deep.include({ ok: true });
    });
  }

  const BAD: readonly (readonly [string, string, readonly object[] | undefined, number, RegExp])[] = [
    ['no such template', 'none', undefined, 132_001, /\(none\) does not exist in en_US/],
    ['one that is pending', 'new_offer', [body('1')], 132_001, /./],
    ['one that is paused', 'paused_offer', [body('1')], 132_015, /./],
    ['one that is disabled', 'disabled_offer', [body('1')], 132_016, /./],
    [
      'a text without text',
      'order_update',
      [{ type: 'body', parameters: [{ type: 'text' }] }],
      100,
      /'text' is mandatory/,
    ],
    ['an image without an image', 'picture_offer', [header({ type: 'image' })], 100, /'image' is mandatory/],
    [
      'an image without an address',
      'picture_offer',
      [header({ type: 'image', image: {} })],
      132_018,
      /media ID or link/,
    ],
    ['no image', 'picture_offer', undefined, 132_012, /expected IMAGE, received UNKNOWN/],
    [
      'a video for an image',
      'picture_offer',
      [header({ type: 'video', video: { id: '1' } })],
      132_012,
      /received VIDEO/,
    ],
    [
      'a file name for an image',
      'picture_offer',
      [header({ type: 'image', image: { id: '1', filename: 'x' } })],
      100,
      /filename/,
    ],
    [
      'a place without its address',
      'store_visit',
      [header({ type: 'location', location: { ...PLACE, address: '' } }), body('A')],
      100,
      /location\.address/,
    ],
    [
      'a place as numbers',
      'store_visit',
      [header({ type: 'location', location: { ...PLACE, latitude: 12 } }), body('A')],
      100,
      /location\.latitude/,
    ],
    [
      'a flow with empty data',
      'sign_up',
      [button('flow', '0', { type: 'action', action: { flow_token: 'unused', flow_action_data: {} } })],
      132_018,
      /non-empty/,
    ],
    ['a header that the template has not', 'order_update', [header(IMAGE), body('a', 'b')], 132_018, /no header/],
    [
      'no value for the header',
      'sale_begins',
      [body('a', 'b')],
      132_000,
      /^header: number of localizable_params \(0\).*\(1\)/,
    ],
    [
      'too few values',
      'order_update',
      [body('a')],
      132_000,
      /^body: number of localizable_params \(1\) does not match the expected number of params \(2\)/,
    ],
    ['too many values', 'order_update', [body('a', 'b', 'c')], 132_000, /\(3\)/],
    ['values without their names', 'appointment', [header(text('Asha')), NAMED], 100, /name is missing or empty/],
    [
      'a wrong name',
      'appointment',
      [header(text('Asha', 'name')), NAMED],
      100,
      /for the parameter '\{\{first_name\}\}'/,
    ],
    ['names where there are numbers', 'sale_begins', [header(text('a', 'x')), body('a', 'b')], 100, /parameter_name/],
    [
      'no suffix',
      'order_shipped',
      TO_SHIPPED.slice(0, 2),
      131_008,
      /Button at index 2 of type Url requires a parameter/,
    ],
    ['no code', 'coupon', [body('25')], 131_008, /index 1 of type CopyCode/],
    [
      'a button of another kind',
      'login_code',
      [body('1'), button('copy_code', '0', { type: 'coupon_code', coupon_code: '1' })],
      132_018,
      /index 0 must be of type Url/,
    ],
    [
      'a value for a fixed address',
      'coupon',
      [body('25'), url('0', 'x'), COUPON],
      132_018,
      /index 0 takes no parameter/,
    ],
    ['a button that is none', 'order_update', [body('a', 'b'), url('0', 'x')], 132_018, /no button at index 0/],
    [
      'buttons in another order',
      'order_shipped',
      [...TO_SHIPPED, button('quick_reply', '0', { type: 'payload', payload: 'Y' })],
      132_018,
      /order/,
    ],
    [
      'an empty suffix',
      'order_shipped',
      [header(IMAGE), body('a', 'b'), url('2', '')],
      100,
      /^button: .*cannot be empty/,
    ],
    [
      'a suffix that is not encoded',
      'order_shipped',
      [header(IMAGE), body('a', 'b'), url('2', 'é')],
      132_018,
      /percent-encoded/,
    ],
    ['components in another order', 'order_shipped', [TO_SHIPPED[1] ?? {}, TO_SHIPPED[0] ?? {}], 100, /order/],
    [
      'a footer',
      'order_update',
      [body('a', 'b'), { type: 'footer', parameters: [text('x')] }],
      100,
      /of no known type/,
    ],
    ['no components in the list', 'welcome', [], 100, /empty/],
    ['a member that is not documented', 'order_update', [{ ...body('a', 'b'), format: 'TEXT' }], 100, /"format"/],
    ['a carousel without its cards', 'season', [body('a')], 132_000, /0 cards, expected 2/],
    ['an order to pay', 'pay_now', [body('a')], 132_012, /order_details/],
  ];
  for (const [what, name, components, code, details] of BAD) {
    it(`refuses ${what} with ${code}`, () => {
      const checked = check(name, components);

      expect(checked).to.have.nested.property('error.code', code);
      expect(checked).to.have.nested.property('error.details').that.matches(details);
    });
  }
});
