import { ADDED_STATUSES, ERRORS } from './tables/errors.ts';
import { walkAuthentication } from './walks/authentication.ts';
import { walkEndpoints } from './walks/endpoints.ts';
import { walkErrors } from './walks/errors.ts';
import { walkEvents } from './walks/events.ts';
import { walkLimits } from './walks/limits.ts';
import { walkMediaTypes } from './walks/media-types.ts';
import { walkPrinted } from './walks/printed.ts';
import { walkSchedules } from './walks/schedules.ts';
import { walkStates } from './walks/states.ts';
import { walkTemplates } from './walks/templates.ts';
import { createWorld, type World } from './world.ts';

describe('the specification, table by table, against the running product', () => {
  let made: World | undefined;
  const world = (): World => {
    if (made === undefined) throw new Error('the product did not start');
    return made;
  };
  before(async () => {
    made = await createWorld();
  });
  after(() => made?.product.stop());

  describe('Endpoints', () => walkEndpoints(world));
  describe('Authentication', () => walkAuthentication(world));
  describe('Supported media types', () => walkMediaTypes(world));
  describe('Templates', () => walkTemplates(world));
  describe('Errors', () => walkErrors(world));
  describe('States and transitions', () => walkStates(world));
  describe('Scheduled message', () => walkSchedules(world));
  describe('Events', () => walkEvents(world));
  describe('what `npm start` prints', () => walkPrinted(world));
  describe('Limits', () => walkLimits(world));

  it('no answer of the whole walk had a status that nobody wrote down', () => {
    const written = [...ERRORS.map(({ status }) => status as number), ...ADDED_STATUSES].filter((one) => one !== 500);

    const others = [...world().client.answered].filter((line) => !written.includes(Number(line.slice(-3))));

    expect(others).to.deep.equal([]);
  });
});
