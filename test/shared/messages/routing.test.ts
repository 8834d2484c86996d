import { expect } from 'chai';
import { isRoute, laneOf, pathOf, ROUTES } from '../../../shared/messages/routing.ts';

describe('routing', () => {
  it('knows the routes of the specification and nothing else', () => {
    expect(ROUTES).to.deep.equal(['transactional', 'promotional']);
    for (const name of ['Transactional', '', 'otp', '__proto__', 'constructor']) expect(isRoute(name)).to.equal(false);
  });

  it('lets transactional messages leave before promotional ones', () => {
    expect(laneOf('transactional')).to.equal(1);
    expect(laneOf('promotional')).to.equal(3);
  });

  it('gives each route a path of its own', () => {
    expect(ROUTES.map(pathOf)).to.deep.equal(['transactional', 'promotional']);
  });
});
