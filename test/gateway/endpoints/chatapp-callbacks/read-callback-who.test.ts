import { expect } from 'chai';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { callbackPost } from '../../../support/chat-callback.ts';
import { mergeParts, readAlone } from '../../../support/read-callback.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const SENT = new Date('2026-11-21T09:59:50Z');
const PROVIDER = { _id: '918000000001', account: newId('acc'), phoneNumberId: '1055', businessId: '2055' } as const;
const CUSTOMER = '919876543210';

describe('chatapp/read-callback: who wrote', () => {
  const readMessage = async (message: object, more: object = {}) => {
    const messages = [{ from: CUSTOMER, id: 'wamid.1', timestamp: '1795255190', ...message }];
    return mergeParts(await readAlone(callbackPost({ messages, ...more }), PROVIDER, NOW));
  };

  it('keeps a message without a phone number, and takes it from the only contact', async () => {
    const unknown = await readMessage({ from: undefined, type: 'text', text: { body: 'x' } });
    const contact = await readMessage({ from: undefined, type: 'text', text: {} }, { contacts: [{ wa_id: CUSTOMER }] });

    expect([unknown, contact].map(({ items }) => Reflect.get(Object(items[0]?.what), 'from'))).to.deep.equal([
      null,
      CUSTOMER,
    ]);
    expect(unknown.inbound).to.deep.equal([]);
  });

  const USER_ID = 'US.13491208655302741918';
  const nameless: readonly [string, object, object][] = [
    ['beside the message', { from_user_id: USER_ID }, {}],
    ['of the only contact', {}, { contacts: [{ profile: { username: 'asha' }, user_id: USER_ID }] }],
    ['in place of the number', { from: USER_ID }, {}],
  ];
  for (const [where, message, value] of nameless) {
    it(`takes the user id of a customer who shows no number: ${where}`, async () => {
      const { items, inbound } = await readMessage({ from: undefined, type: 'text', text: {}, ...message }, value);

      expect(items[0]?.what).to.include({ from: USER_ID });
      expect(inbound).to.deep.equal([{ account: PROVIDER.account, customer: USER_ID, number: PROVIDER._id, at: SENT }]);
    });
  }

  it('takes the number where both are told', async () => {
    const { items } = await readMessage({ type: 'text', text: {}, from_user_id: USER_ID });

    expect(items[0]?.what).to.deep.include({ from: CUSTOMER, more: { from_user_id: USER_ID } });
  });
});
