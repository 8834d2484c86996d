import type { ChatContact, Place } from '../../../shared/messages/document/chat-message.ts';
import { defined } from '../../../shared/platform/runtime/defined.ts';
import {
  type Fields,
  list,
  matching,
  number,
  object,
  optional,
  required,
  type Values,
} from '../../http/fields/field.ts';
import { type Rule, request } from '../../http/fields/request.ts';
import { degrees, EXTENSIONS, replyTo, text, to } from './fields.ts';
import { freeForm } from './free-form.ts';

/** Locations and contacts, which phones show as a map and as cards. */

const word = (description: string, maxLength = 1_024) => optional(text({ description, maxLength }));

const PLACE = {
  latitude: required(number({ description: 'Degrees north.', minimum: -90, maximum: 90 })),
  longitude: required(number({ description: 'Degrees east.', minimum: -180, maximum: 180 })),
  name: word('Name of the place.'),
  address: word('Its address, which is shown below its name.'),
};

const addressNeedsName: Rule<typeof PLACE> = (_given, has, problems) => {
  if (has('address') && !has('name')) problems.add('name', 'missing_field', 'An address is shown below a name only.');
};

const LOCATION = request({ to, ...PLACE, reply_to: replyTo, ...EXTENSIONS }, [], [addressNeedsName]);

export const chatappSendLocation = freeForm({
  id: 'chatappSendLocation',
  call: 'chatapp.sendLocation',
  path: '/v2/chatapp/send-location',
  summary: 'Send a location',
  body: LOCATION,
  examples: {
    shop: {
      ...{ to: '919876543210', latitude: 12.9758, longitude: 77.6045 },
      ...{ name: 'Demo Shop', address: 'MG Road, Bengaluru' },
    },
  },
  order({ read }) {
    const { latitude, longitude, name, address, reply_to: answered } = read.given;
    if (latitude === undefined || longitude === undefined) return { content: undefined };
    const degreesOf = { latitude: degrees(latitude), longitude: degrees(longitude) };
    const location: Place = { ...degreesOf, ...defined({ name, address }) };
    return { replyTo: answered, content: { kind: 'location', location } };
  },
});

/** WhatsApp takes 5 in one message ("Contacts messages"), and of each what a phone's contact card holds. */
const CONTACTS_MAX = 5;
const ENTRIES_MAX = 10;

const entries = <T extends Fields>(description: string, fields: T) =>
  optional(list(object(fields), { description, minItems: 1, maxItems: ENTRIES_MAX }));
const type = word('`HOME`, `WORK`, or your own word.', 64);

const CONTACT = {
  name: required(
    object({
      formatted_name: word('As it is shown; without it the other parts, in their order.'),
      prefix: word('Such as Dr.'),
      first_name: required(text({ description: 'First name, or that of the company.', maxLength: 1_024 })),
      middle_name: word('Middle name.'),
      last_name: word('Last name.'),
      suffix: word('Such as Jr.'),
    }),
  ),
  phones: entries('Numbers. With a `wa_id` the card has a button to chat with it.', {
    phone: required(text({ description: 'As it is shown, such as +91 98765 43210.', maxLength: 64 })),
    type,
    wa_id: optional(
      matching(
        'The same number as digits, country code first.',
        /^[1-9][0-9]{6,14}$/,
        'digits, country code first',
        'invalid_phone',
      ),
    ),
  }),
  emails: entries('Addresses for mail.', {
    email: required(text({ description: 'The address.', maxLength: 320 })),
    type,
  }),
  addresses: entries('Postal addresses.', {
    street: word('Street and number.'),
    city: word('City.'),
    state: word('State.'),
    zip: word('Postal code.', 64),
    country: word('Country.'),
    country_code: word('Two letters, such as IN.', 2),
    type,
  }),
  urls: entries('Addresses in the web.', {
    url: required(text({ description: 'The address.', maxLength: 2_000 })),
    type,
  }),
  org: optional(
    object({ company: word('Company.'), department: word('Department.'), title: word('What one does there.') }),
  ),
  birthday: optional(matching('YYYY-MM-DD.', /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, 'a date like 1990-12-31')),
};

const CONTACTS = request({
  to,
  contacts: required(
    list(object(CONTACT), {
      description: 'The cards. The members are those of WhatsApp.',
      minItems: 1,
      maxItems: CONTACTS_MAX,
    }),
  ),
  reply_to: replyTo,
  ...EXTENSIONS,
});

export const chatappSendContacts = freeForm({
  id: 'chatappSendContacts',
  call: 'chatapp.sendContacts',
  path: '/v2/chatapp/send-contacts',
  summary: 'Send contacts',
  body: CONTACTS,
  examples: {
    courier: {
      to: '919876543210',
      contacts: [
        {
          name: { first_name: 'Ravi', last_name: 'Kumar' },
          phones: [{ phone: '+91 98765 00001', type: 'WORK', wa_id: '919876500001' }],
          org: { company: 'Demo Couriers' },
        },
      ],
    },
  },
  order({ read }) {
    const { contacts, reply_to: answered } = read.given;
    const content = contacts && ({ kind: 'contacts', contacts: contacts.map(contactOf) } as const);
    return { replyTo: answered, content };
  },
});

/** In the provider's shape, which is the request's. A missing formatted name is made of the parts. */
function contactOf({ name, phones, emails, addresses, urls, org, birthday }: Values<typeof CONTACT>): ChatContact {
  const { formatted_name: given, ...parts } = name;
  const shown =
    given ??
    Object.values(parts)
      .filter((part) => part !== undefined)
      .join(' ');
  return {
    name: { formatted_name: shown, ...defined(parts) },
    ...defined({ phones, emails, addresses, urls, org, birthday }),
  };
}
