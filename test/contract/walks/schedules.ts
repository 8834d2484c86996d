import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../client.ts';
import { inHours } from '../requests.ts';
import { expectProblem, namedFields, TIMESTAMP } from '../shape.ts';
import { SCHEDULE_STATES } from '../tables/states.ts';
import { SETTLE_MS, type World } from '../world.ts';
import { balance } from './states.ts';

/** "Scheduled message" and its DELETE, from the booking to its release or cancellation. */
export function walkSchedules(world: () => World): void {
  // Nobody else spends the credits of this account.
  const call = (method: string, path: string, body?: object): Promise<Answer> =>
    world().client.call({ method, path, key: world().otherKey, ...(body === undefined ? {} : { body }) });
  const book = (scheduleTime: string, to: string | readonly string[] = '919876500981'): Promise<Answer> =>
    call('POST', '/v2/schedule', { to, message: 'In time', sender: 'HARKRA', schedule_time: scheduleTime });
  const stateOf = async (id: string): Promise<Answer['body']> => (await call('GET', `/v2/schedule/${id}`)).body;

  for (const offset of ['+05:30', '+00:00', '-03:30', '+14:00', 'Z']) {
    it(`scheduled_for is the same instant in the same offset: ${offset}`, async () => {
      const given = `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 19)}${offset}`;

      const { body } = await book(given);

      expect(body.scheduled_for).to.match(TIMESTAMP);
      expect(body.scheduled_for).to.equal(given.replace('Z', '+00:00'));
      await call('DELETE', `/v2/schedule/${body.schedule_id}`);
    });
  }

  it('a time without an offset, over, or more than 35 days ahead: 400', async () => {
    for (const time of [inHours(2).slice(0, 19), inHours(-1), inHours(36 * 24), '2027-02-30T10:00:00+05:30']) {
      const answer = await book(time);

      expectProblem(answer, 400, 'invalid_request');
      expect(namedFields(answer)).to.deep.equal(['schedule_time']);
    }
  });

  for (const [what, to, credits] of [
    ['one message', '919876500982', 1],
    ['a bulk body', ['919876500983', '919876500984', '919876500985'], 3],
  ] as const) {
    it(`DELETE cancels ${what} and gives ${credits} back, once; its state is told`, async () => {
      const before = await balance(world(), world().otherKey);
      const booked = await book(inHours(3), to);
      expect(booked.status, booked.text).to.equal(200);
      const id = String(booked.body.schedule_id);
      expect(await balance(world(), world().otherKey)).to.equal(before - credits);
      const states = [(await stateOf(id)).state];

      const cancelled = await call('DELETE', `/v2/schedule/${id}`);
      states.push((await stateOf(id)).state);
      const again = await call('DELETE', `/v2/schedule/${id}`);

      expect([cancelled.status, again.status]).to.deep.equal([200, 200]);
      expect(again.body.status).to.equal('success');
      expect(states).to.deep.equal([SCHEDULE_STATES[0], SCHEDULE_STATES[3]]);
      expect(await balance(world(), world().otherKey)).to.equal(before);
    });
  }

  it('at its time it is sent; DELETE then answers 409 and gives nothing back', async () => {
    const before = await balance(world(), world().otherKey);
    const { body } = await book(inHours(10 / 3600));
    const id = String(body.schedule_id);
    const seen = new Set<unknown>();

    const sent = await eventually(
      async () => {
        const record = await stateOf(id);
        seen.add(record.state);
        return record.state === 'sent' ? record : undefined;
      },
      `${id} sent`,
      SETTLE_MS,
    );

    for (const state of seen) expect(SCHEDULE_STATES.slice(0, 3)).to.include(state);
    expect(sent?.scheduled_for).to.equal(body.scheduled_for);
    expectProblem(await call('DELETE', `/v2/schedule/${id}`), 409);
    await eventually(
      async () => (await call('GET', `/v2/status/${sent?.message_id}`)).body.status === 'delivered',
      'the scheduled message delivered',
      SETTLE_MS,
    );
    expect(await balance(world(), world().otherKey)).to.equal(before - 1);
  });
}
