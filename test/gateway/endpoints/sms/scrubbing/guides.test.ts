import { templateRefusals } from '../../../../../gateway/endpoints/account-templates/templates.ts';
import { explain } from '../../../../../gateway/endpoints/messages/explain/explain.ts';
import {
  predictRefusals,
  SCRUB_RULES,
  type ScrubFacts,
  scrubRule,
} from '../../../../../shared/carriers/scrub-rules.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../../../../shared/messages/document/routing.ts';
import { parseContent } from '../../../../../shared/templates/sms/pattern.ts';
import type { TemplateCategory } from '../../../../../shared/templates/sms/template.ts';

/** What public guides say about refusals, and our reading of it. Each case names its guide. */
const EXOTEL = 'support.exotel.com 3000120944';
const HUB = 'smsgatewayhub.freshdesk.com 3000129776';
const ADWINGS = 'adwingsdigital.com/dlt-sms-error-codes';
const AUTHKEY = 'authkey.io/dlt-registration/dlt-error-codes';
const YOURBULK = 'yourbulksms.com/dlt-platform-error-code';
const MERITTO = 'support.meritto.com 8626636205849';
const CHAIN = 'support.meritto.com 40449152644505';
const TECHDICT = 'thetechdictionary.com/blog-details/pe-tm-id-chain-bulksms';
const KALEYRA_PROMO = 'support.kaleyra.com 3000105308';
const KALEYRA_EXPLICIT = 'globalmessaging.kaleyra.com 3000105307';
const FYNO = 'docs.fyno.io/docs/dlt-sms-templates';
const MANDATE = 'themandate.digital/?p=29323';
const PHONE91 = 'kb.phone91.com/293020/cta-whitelisting-faqs';

/** A code with its name in a list, and what people are told. */
const CODES: readonly (readonly [source: string, code: string, name: string, told: RegExp])[] = [
  [AUTHKEY, '195', 'Expected TLV missing', /required parameter is missing/],
  [EXOTEL, '600', 'ENTITY_NOT_FOUND', /business \(PE\) is not registered/],
  [EXOTEL, '601', 'ENTITY_NOT_REGISTERED', /business \(PE\) is not registered/],
  [EXOTEL, '602', 'ENTITY_INACTIVE', /not active/],
  [EXOTEL, '603', 'ENTITY_BLACKLISTED', /business \(PE\)/],
  [EXOTEL, '604', 'INVALID_ENTITY_ID: wrong format or no entity id tag', /PE id .* missing, or has a wrong form/],
  [HUB, '605', 'ENTITY_ID_NOT_ALLOWED_FOR_TM', /may not send by the telemarketer/],
  [EXOTEL, '610', 'TELEMARKETER_NOT_REGISTERED', /telemarketer of the route is not registered/],
  [EXOTEL, '611', 'TELEMARKETER_INACTIVE', /not active/],
  [YOURBULK, '612', 'TELEMARKETER_BLACKLISTED', /telemarketer/],
  [HUB, '613', 'TELEMARKETER_NOT_ALLOWED_FOR_ENTITY', /may not send for your business/],
  [HUB, '614', 'PE_TM_HASH_NOT_RECEIVED', /hash of the chain .* was not received/],
  [ADWINGS, '615', 'PE_TM_HASH_NOT_REGISTERED', /PE-TM binding/],
  [ADWINGS, '616', 'PE_TM_HASH_INACTIVE', /PE-TM binding/],
  [ADWINGS, '617', 'PE_TM_HASH_BLACKLISTED', /PE-TM binding/],
  [ADWINGS, '618', 'PE_TM_HASH_SUSPENDED', /suspended/],
  [EXOTEL, '620', 'HEADER_NOT_FOUND (case sensitive)', /capitals count/],
  [EXOTEL, '621', 'HEADER_INACTIVE', /not active/],
  [EXOTEL, '622', 'HEADER_BLACKLISTED', /blacklisted/],
  [EXOTEL, '623', 'PEID_NOT_MATCHED_WITH_HEADER', /registered to another business/],
  [HUB, '624', 'HEADER_SUSPENDED_DUE_TO_VALIDITY', /suspended/],
  [HUB, '625', 'HEADER_SUSPENDED_DUE_TO_USAGE', /suspended/],
  [EXOTEL, '630', 'TEMPLATE_NOT_FOUND', /template is not registered/],
  [EXOTEL, '631', 'TEMPLATE_INACTIVE', /inactive or blacklisted/],
  [EXOTEL, '632', 'TEMPLATE_BLACKLISTED', /inactive or blacklisted/],
  [AUTHKEY, '633', 'TEMPLATE_NOT_MATCHED', /text does not match/],
  [AUTHKEY, '634', 'HEADER_NOT_REGISTERED_FOR_TEMPLATE', /not registered for this header/],
  [AUTHKEY, '635', 'TEMPLATE_VARIABLE_EXCEEDED_MAX_LENGTH', /longer than its variable/],
  [AUTHKEY, '636', 'ERROR_IDENTIFYING_TEMPLATE', /template is not registered/],
  [AUTHKEY, '637', 'INVALID_TEMPLATE_ID', /template is not registered/],
  [AUTHKEY, '650', 'PREFERENCE_NOT_MATCHED', /does not want messages of this kind/],
  [AUTHKEY, '660', 'CONSENT_FAILED', /did not consent/],
  [AUTHKEY, '666', 'SMS Content mis-match', /differs from what was registered/],
  [AUTHKEY, '670', 'SCRUBBING_FAILED', /scrubbing failed/],
  [AUTHKEY, '677', 'Invalid TM_ID', /telemarketer/],
  [AUTHKEY, '678', 'Telemarketer ID does not exist / In active', /telemarketer/],
  [AUTHKEY, '680', 'Telemarketer ID blacklisted', /telemarketer/],
  [AUTHKEY, '683', 'SMS Type of header is not match Template', /not of the same category/],
  [AUTHKEY, '687', 'SMS Type is not match with header / Template SMS Type', /not of the same category/],
];

const PE = '1101172974420810001';
const TM = ['1101172974420820002', '1101172974420830004'];
const TAGS = { entityTag: 0x1400, templateTag: 0x1401, form: 'octet' } as const;
const HASHED = { ...TAGS, hashTag: 0x1402 } as const;
const withIds = { name: 'Airtel', dlt: TAGS };
const hashed = { name: 'Jio', dlt: HASHED, chain: TM };
const template = (category?: TemplateCategory, more: object = {}) => ({
  ...{ dltId: '1107160000000012345', status: 'approved' as const, ...(category && { category }), ...more },
});
const at = (time: string) => ({ at: new Date(`2026-11-29T${time}:00+05:30`), hours: DEFAULT_PROMOTIONAL_HOURS });
const good: ScrubFacts = {
  ...{ sender: 'HARKRA', route: 'transactional', entityId: PE, template: template('service_implicit') },
  ...{ carriers: [withIds, hashed], leaves: at('23:00'), missing: [] },
};
const promo: ScrubFacts = { ...good, sender: '600123', route: 'promotional', template: template('promotional') };

/** Expected codes; a question mark where only operators know. */
const EXPECTED: readonly (readonly [source: string, what: string, facts: ScrubFacts, codes: readonly string[]])[] = [
  [FYNO, 'service implicit needs no consent, at any hour', good, []],
  [MERITTO, 'a header of 6 letters for service messages', { ...good, sender: 'ACMEBK' }, []],
  [MERITTO, 'a header of digits is for promotional messages', { ...good, sender: '600123' }, ['683']],
  [MERITTO, 'a promotional header has 6 digits', promo, ['650?']],
  [MERITTO, 'a promotional header of 4 digits', { ...promo, sender: '6001' }, ['620?', '650?']],
  [MERITTO, 'promotional with a header of letters', { ...promo, sender: 'HARKRA' }, ['683?', '650?']],
  [MERITTO, 'a header of 11 letters', { ...good, sender: 'HARKRABANKS' }, ['620?']],
  [EXOTEL, 'capitals of a header count', { ...good, sender: 'Harkra', otherCase: 'HARKRA' }, ['620']],
  ['kb.smsalert.co.in: headers', 'prefix and suffix are the operator’s', { ...good, sender: 'VM-HARKRA-S' }, ['620']],
  ['kb.smsalert.co.in: headers', 'the prefix alone', { ...good, sender: 'AD-HARKRA' }, ['620']],
  [EXOTEL, 'no entity id', { ...good, entityId: null }, ['604']],
  [EXOTEL, 'an entity id of wrong format', { ...good, entityId: 'TM-XXXX' }, ['604']],
  ['Airtel’s PE ids have 12 digits (ksmppd #134)', 'a short entity id', { ...good, entityId: '110100001483' }, []],
  [AUTHKEY, 'a carrier that gets no TLVs', { ...good, carriers: [{ name: 'A', dlt: 'off' }] }, ['195']],
  [AUTHKEY, 'one of two carriers gets none', { ...good, carriers: [withIds, { name: 'A', dlt: 'off' }] }, ['195?']],
  [CHAIN, 'scrubbed without a complete chain (0x1402)', { ...good, carriers: [{ name: 'J', dlt: HASHED }] }, ['614']],
  [CHAIN, 'one of two carriers has no chain', { ...good, carriers: [hashed, { name: 'J', dlt: HASHED }] }, ['614?']],
  [
    'tanla.freshdesk.com 82000917129',
    'the last hop hashes: no tag, no hash of ours',
    { ...good, carriers: [withIds] },
    [],
  ],
  [
    TECHDICT,
    'a chain that names the entity again',
    { ...good, carriers: [{ ...hashed, chain: [PE, ...TM] }] },
    ['615'],
  ],
  [TECHDICT, 'a telemarketer twice', { ...good, carriers: [{ ...hashed, chain: [...TM, ...TM] }] }, ['615']],
  [EXOTEL, 'a template that is rejected', { ...good, template: template(undefined, { status: 'rejected' }) }, ['631']],
  [
    EXOTEL,
    'one that is not approved yet',
    { ...good, template: template(undefined, { status: 'submitted' }) },
    ['630?'],
  ],
  [
    AUTHKEY,
    'a promotional template as transactional',
    { ...good, template: template('promotional'), leaves: at('12:00') },
    ['683'],
  ],
  [AUTHKEY, 'a service template as promotional', { ...promo, template: template('service_implicit') }, ['683', '650?']],
  [KALEYRA_PROMO, 'preferences are scrubbed', promo, ['650?']],
  [KALEYRA_EXPLICIT, 'consent is scrubbed', { ...promo, template: template('service_explicit') }, ['660?']],
  [
    `${HUB}, 651`,
    'promotional at 21:00',
    { ...good, template: template('promotional'), leaves: at('21:00') },
    ['683', '651'],
  ],
  [`${HUB}, 651`, 'promotional at 20:59', { ...good, template: template('promotional'), leaves: at('20:59') }, ['683']],
  [
    `${HUB}, 651`,
    'promotional at 09:59',
    { ...good, template: template('promotional'), leaves: at('09:59') },
    ['683', '651'],
  ],
  [`${HUB}, 651`, 'on the promotional route it waits for 10:00', { ...promo, leaves: at('03:00') }, ['650?']],
  [PHONE91, 'a CTA that is not whitelisted', { ...good, missing: ['The link "x.in" is not registered.'] }, ['642']],
];

const TEMPLATES: readonly (readonly [
  source: string,
  text: string,
  category: TemplateCategory | undefined,
  told: readonly RegExp[],
])[] = [
  [MANDATE, 'Your code is {#var#}.', undefined, [/no new template with \{#var#\}/]],
  [MANDATE, 'Your code is {#numeric#}.', 'service_implicit', []],
  ['BSE, copy of the direction of 18-11-2025', 'Ref {#numeric#}{#numeric#} it', undefined, [/side by side/]],
  ['BSE, copy of the direction of 18-11-2025', '{#url#} a {#url#} b {#url#} c {#url#}', undefined, [/4 variables/]],
  [KALEYRA_PROMO, 'Two  spaces {#url#}', undefined, [/Two spaces/]],
  [KALEYRA_PROMO, 'Sizes < 5 at {#url#}', undefined, [/< or >/]],
  [KALEYRA_PROMO, 'We are open.', 'service_implicit', [/no variable/]],
  [KALEYRA_PROMO, 'Sale at Acme.', 'promotional', []],
];

describe('what public guides say of DLT refusals', () => {
  for (const [source, code, name, told] of CODES) {
    it(`${code} ${name} (${source})`, () => {
      const errorReason = scrubRule(code)?.reason ?? expect.fail('it has no rule');

      expect(explain({ state: 'rejected', errorCode: code, errorReason })?.cause).to.match(told);
    });
  }

  for (const [source, what, facts, codes] of EXPECTED) {
    it(`${what} (${source})`, () => {
      const found = predictRefusals(facts);

      expect(found.map(({ code, certainty }) => (certainty === 'sure' ? code : `${code}?`))).to.deep.equal(codes);
      for (const { cause, advice } of found) {
        expect(cause).to.match(/\.$/);
        expect(advice).to.match(/\.$/);
      }
    });
  }

  for (const [source, text, category, told] of TEMPLATES) {
    it(`${JSON.stringify(text)} as ${category ?? 'any'} (${source})`, () => {
      const parsed = parseContent(text);
      const found = parsed.kind === 'pattern' ? templateRefusals(parsed.pattern, category) : expect.fail('malformed');

      expect(found).to.have.length(told.length);
      for (const [i, { cause }] of found.entries()) expect(cause).to.match(told[i] ?? /never/);
    });
  }

  it('one rule for a code, and a reason that receipts name DLT by', () => {
    const codes = SCRUB_RULES.flatMap((rule) => rule.codes);

    expect(new Set(codes)).to.have.length(codes.length);
    expect(SCRUB_RULES.filter(({ reason }) => !/^DLT: /.test(reason))).to.deep.equal([]);
  });

  it('operators are told which carrier, and what to set', () => {
    const [said] = predictRefusals({ ...good, carriers: [{ name: 'Jio', dlt: HASHED }] }, true);

    expect(said?.cause).to.include('at Jio').and.to.include('TLV 0x1402');
    expect(said?.advice).to.include('chain set');
  });
});
