import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { TEST_CONFIG } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { dltCaller } from './dlt-caller.ts';
import { smsWorld } from './world.ts';

const ID = '1107160000000000077';
const BASE = { to: '919876543210', sender: 'HARKRA' };
const FORMS = { 'CR LF': '\r\n', LF: '\n', CR: '\r' } as const;

describe('line breaks of DLT texts', () => {
  const { store, send, post } = smsWorld('/v2/send', { config: { ...TEST_CONFIG, keyCacheMs: 0 } });

  async function caller(content: string, overrides: Partial<AccountDocument> = {}) {
    const made = await dltCaller(store.db, overrides);
    await createTemplate(store.db, systemClock, made.account, makeTemplate({ dltId: ID, content }));
    return made;
  }
  const messageOf = (_id: MessageDocument['_id']) => store.db.collection<MessageDocument>('messages').findOne({ _id });

  for (const [registered, ours] of Object.entries(FORMS)) {
    for (const [sent, theirs] of Object.entries(FORMS)) {
      it(`a text with ${sent} matches what is registered with ${registered}, and is sent as it was given`, async () => {
        const { key } = await caller(`Dear {#var#},${ours}${ours}bye {#var#}`);
        const message = `Dear Asha,${theirs}${theirs}bye${theirs === '\r' ? '' : theirs} now`.replace(
          `bye${theirs}`,
          'bye',
        );

        const { status, body, text } = await send(key, { ...BASE, message });

        expect(status, text).to.equal(200);
        expect(await messageOf(body.message_id)).to.include({ template: ID, text: message });
      });
    }
  }

  it('where a text differs is told by its own places', async () => {
    const { key } = await caller('Dear {#var#},\n\nbye now');

    for (const lineBreak of ['\r\n', '\n']) {
      const message = `Dear Asha,${lineBreak}${lineBreak}bye then`;
      const { body } = await send(key, { ...BASE, message });
      const at = message.indexOf('then');
      expect(body.mismatch).to.include({ at });
      expect(body.detail).to.include(`At character ${at + 1} `);
    }
  });

  it('a line break within a value counts as one character of it', async () => {
    const { key } = await caller('Dear {#var#}, bye');

    expect((await send(key, { ...BASE, message: `Dear ${'x'.repeat(28)}\r\ny, bye` })).status).to.equal(200);
    expectProblem(await send(key, { ...BASE, message: `Dear ${'x'.repeat(29)}\r\ny, bye` }), 'template_mismatch');
  });

  it('a template is filled with LF, whatever the portal exported', async () => {
    const { key } = await caller('Dear {#var#},\r\nbye');

    const { body } = await send(key, { ...BASE, template_id: ID, params: ['Asha'] });

    expect(await messageOf(body.message_id)).to.include({ text: 'Dear Asha,\nbye' });
  });

  it('an account that wants them exact: only the registered form matches, and a template is filled as registered', async () => {
    const { key } = await caller('Dear {#var#},\r\nbye', { lineBreaks: 'exact' });

    expectProblem(await send(key, { ...BASE, message: 'Dear Asha,\nbye' }), 'template_mismatch');
    expect((await send(key, { ...BASE, message: 'Dear Asha,\r\nbye' })).status).to.equal(200);
    const { body } = await send(key, { ...BASE, template_id: ID, params: ['Asha'] });
    expect(await messageOf(body.message_id)).to.include({ text: 'Dear Asha,\r\nbye' });
  });

  it('many at once: matched and filled by the same rule', async () => {
    const { key } = await caller('Dear {#var#},\r\nbye');
    const to = ['919876543210'];

    const given = await post('/v2/send-bulk', key, { to, sender: 'HARKRA', message: 'Dear you,\nbye', dry_run: true });
    const filled = await post('/v2/send-bulk', key, {
      to,
      sender: 'HARKRA',
      template_id: ID,
      params: ['you'],
      dry_run: true,
    });

    expect([given.status, filled.status]).to.deep.equal([200, 200]);
    expect(filled.body.units).to.equal(given.body.units);
  });
});
