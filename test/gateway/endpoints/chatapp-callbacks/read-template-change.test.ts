import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { mergeParts, readAlone } from '../../../support/read-callback.ts';

const PROVIDER = { _id: '918000000001', account: newId('acc'), phoneNumberId: '1055', businessId: '2055' } as const;
const read = async (body: object) => mergeParts(await readAlone(body, PROVIDER));
const TIME = 1_763_719_190;
const toldAt = new Date(TIME * 1_000);

describe('chatapp/read-template-change', () => {
  it('makes an item of what is told of a template, by its business, as the provider documents it', async () => {
    const told = (field: string, value: object, id = '2055') =>
      read({ entry: [{ id, time: TIME, changes: [{ field, value }] }] });
    const named = { message_template_id: 1, message_template_name: 'cart', message_template_language: 'en-US' };
    const whatOf = async (field: string, value: object) =>
      (await told(field, { ...named, ...value })).items.map(({ what }) => what);
    const template = { kind: 'template', business: '2055', name: 'cart', language: 'en_US' };
    const STATUS = 'message_template_status_update';
    const info = { reason: 'Side by side.', recommendation: 'Separate them.' };

    expect(await whatOf(STATUS, { event: 'REJECTED', reason: 'INVALID_FORMAT', rejection_info: info })).to.deep.equal([
      { ...template, status: 'rejected', toldAt, reason: 'INVALID_FORMAT: Side by side. Separate them.' },
    ]);
    const long = { reason: `${'x'.repeat(499)}🎉` };
    expect(await whatOf(STATUS, { event: 'REJECTED', rejection_info: long })).to.deep.equal([
      { ...template, status: 'rejected', toldAt, reason: 'x'.repeat(499) },
    ]);
    expect(await whatOf(STATUS, { event: 'APPROVED', reason: 'NONE' })).to.deep.equal([
      { ...template, status: 'approved', toldAt },
    ]);
    expect(await whatOf(STATUS, { event: 'DELETED', reason: null })).to.deep.equal([
      { ...template, status: 'deleted', toldAt },
    ]);
    for (const event of ['FLAGGED', 'LOCKED']) expect(await whatOf(STATUS, { event })).to.deep.equal([template]);
    expect(await whatOf(STATUS, { event: 'REINSTATED' })).to.deep.equal([{ ...template, toldAt }]);
    expect(await whatOf('message_template_quality_update', { new_quality_score: 'YELLOW' })).to.deep.equal([
      { ...template, quality: 'yellow' },
    ]);
    const moved = { previous_category: 'UTILITY', new_category: 'MARKETING' };
    expect(await whatOf('template_category_update', moved)).to.deep.equal([{ ...template, category: 'marketing' }]);
    expect(await whatOf('template_category_update', { new_category: 'UTILITY' })).to.deep.equal([template]);

    const foreign = await told(STATUS, { ...named, event: 'APPROVED' }, '2056');
    expect([foreign.items, foreign.ignored.foreign]).to.deep.equal([[], 1]);
    const nameless = await told(STATUS, { event: 'APPROVED' });
    expect([nameless.items, nameless.ignored.unreadable]).to.deep.equal([[], 1]);
  });

  it('takes no time that is none, or that would make every later change look old', async () => {
    const value = { event: 'PAUSED', message_template_name: 'cart', message_template_language: 'en_US' };
    const changes = [{ field: 'message_template_status_update', value }];
    const ahead = Math.floor(Date.now() / 1_000) + 3_600;

    for (const time of [undefined, null, '1763719190', 0, -1, 1.5, ahead, Date.now(), 1e300]) {
      const { items } = await read({ entry: [{ id: '2055', time, changes }] });
      expect(items.map(({ what }) => what)).to.deep.equal([
        { kind: 'template', business: '2055', name: 'cart', language: 'en_US', status: 'paused' },
      ]);
    }
  });

  it('changes of one post are due one after the other, in its order', async () => {
    const change = (event: string) => ({
      field: 'message_template_status_update',
      value: { event, message_template_name: 'cart', message_template_language: 'en_US' },
    });
    const changes = [change('APPROVED'), change('PAUSED'), change('DISABLED')];

    const { items } = await read({ entry: [{ id: '2055', time: TIME, changes }] });

    const [first = 0, ...later] = items.map(({ due }) => due?.getTime() ?? 0);
    expect(later).to.deep.equal([first + 1, first + 2]);
  });
});
