import { expect } from 'chai';
import { expectProblem } from '../../../support/problem.ts';
import { BASE, bulkWorld, DLT_ID, GOOD, numbers } from './bulk-world.ts';

describe('POST /v2/send-bulk', () => {
  const { send, caller, withTemplate, batches, balanceOf } = bulkWorld();

  describe('400', () => {
    const cases: readonly [string, object, readonly { field: string; code: string }[]][] = [
      [
        'nothing at all',
        {},
        [
          { field: 'to', code: 'missing_field' },
          { field: 'message', code: 'missing_field' },
          { field: 'sender', code: 'missing_field' },
        ],
      ],
      ['`to` as a string', { ...GOOD, to: '919876543210' }, [{ field: 'to', code: 'wrong_type' }]],
      ['no entry', { ...GOOD, to: [] }, [{ field: 'to', code: 'wrong_count' }]],
      ['10,001 entries', { ...GOOD, to: numbers(10_001) }, [{ field: 'to', code: 'wrong_count' }]],
      [
        'bad entries among good ones',
        { ...GOOD, to: ['919876543210', '+919876543210', 919876543210, null] },
        [
          { field: 'to[1]', code: 'invalid_phone' },
          { field: 'to[2]', code: 'wrong_type' },
          { field: 'to[3]', code: 'wrong_type' },
        ],
      ],
      [
        'an entry and other fields',
        { ...GOOD, to: ['x'], message: '', route: 'fast', extra: 1 },
        [
          { field: 'to[0]', code: 'invalid_phone' },
          { field: 'message', code: 'too_short' },
          { field: 'route', code: 'invalid_value' },
          { field: 'extra', code: 'unknown_field' },
        ],
      ],
      ['`to` and `recipients`', { ...GOOD, recipients: [] }, [{ field: 'recipients', code: 'conflict' }]],
      [
        'recipients with what they do not have',
        { ...BASE, message: 'x', recipients: ['919876543210', {}, { to: '919876543210', parms: [] }] },
        [
          { field: 'recipients[0]', code: 'wrong_type' },
          { field: 'recipients[1].to', code: 'missing_field' },
          { field: 'recipients[2].parms', code: 'unknown_field' },
        ],
      ],
      [
        'params of a wrong type',
        {
          ...BASE,
          template_id: DLT_ID,
          recipients: [
            { to: '919876543210', params: 'x' },
            { to: '919876543210', params: [1] },
          ],
        },
        [
          { field: 'recipients[0].params', code: 'wrong_type' },
          { field: 'recipients[1].params[0]', code: 'wrong_type' },
        ],
      ],
      ['a text and a template', { ...GOOD, template_id: DLT_ID }, [{ field: 'message', code: 'conflict' }]],
      ['params without a template', { ...GOOD, params: [] }, [{ field: 'params', code: 'conflict' }]],
      [
        'params of entries without a template',
        { ...BASE, message: 'x', recipients: [{ to: '919876543210', params: [] }] },
        [{ field: 'recipients', code: 'conflict' }],
      ],
      [
        'the urgent lane',
        { ...GOOD, route: 'transactional', priority: 'otp' },
        [{ field: 'priority', code: 'invalid_value' }],
      ],
      [
        'switches that are none',
        { ...GOOD, dedupe: 'yes', dry_run: 1 },
        [
          { field: 'dedupe', code: 'wrong_type' },
          { field: 'dry_run', code: 'wrong_type' },
        ],
      ],
    ];
    for (const [what, body, problems] of cases) {
      it(`names all of it: ${what}`, async () => {
        const { account, key } = await caller(10);

        const answer = await send(key, body);

        expectProblem(answer, 'invalid_request');
        expect(
          answer.body.errors.map(({ field, code }: { field: string; code: string }) => ({ field, code })),
        ).to.have.deep.members(problems);
        expect(answer.body.errors_count).to.equal(problems.length);
        expect(await batches().countDocuments({ account })).to.equal(0);
      });
    }

    it('lists the first hundred bad entries, and their count', async () => {
      const { key } = await caller(10);

      const answer = await send(key, { ...GOOD, to: numbers(300).map((to, i) => (i < 150 ? to : `+${to}`)) });

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors_count).to.equal(150);
      expect(answer.body.errors).to.have.length(100);
      expect(answer.body.errors[0]).to.include({ field: 'to[150]' });
    });

    it('template: every param that does not fit, by its entry', async () => {
      const { account, key } = await withTemplate(10);
      const to = '919876543210';

      const answer = await send(key, {
        ...BASE,
        template_id: DLT_ID,
        recipients: [
          { to, params: ['Asha', '100'] },
          { to, params: ['Asha'] },
          { to, params: ['x'.repeat(31), 'ten'] },
          { to },
          { to, params: ['half \ud83d', '1'] },
        ],
      });

      expectProblem(answer, 'invalid_request');
      expect(
        answer.body.errors.map(({ field, code }: { field: string; code: string }) => ({ field, code })),
      ).to.have.deep.members([
        { field: 'recipients[3].params', code: 'missing_field' },
        { field: 'recipients[1].params', code: 'wrong_count' },
        { field: 'recipients[2].params[0]', code: 'too_long' },
        { field: 'recipients[2].params[1]', code: 'wrong_type' },
        { field: 'recipients[4].params[0]', code: 'invalid_text' },
      ]);
      expect(await balanceOf(account)).to.equal(10);
    });

    it('a body of megabytes that is no JSON', async () => {
      const { key } = await caller(10);

      expectProblem(await send(key, `${JSON.stringify({ ...GOOD, to: numbers(20_000) })}}`), 'malformed_body');
    });
  });
});
