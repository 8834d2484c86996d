import { expect } from 'chai';
import { HOURS_LANE, laneOf, PRIORITIES, pathOf, ROUTES } from '../../../../shared/messages/document/routing.ts';

describe('routing', () => {
  it('knows the routes of the specification and nothing else', () => {
    expect(ROUTES).to.deep.equal(['transactional', 'promotional']);
  });

  it('lets transactional messages leave before promotional ones', () => {
    expect(laneOf('transactional')).to.equal(1);
    expect(laneOf('promotional')).to.equal(3);
  });

  it('knows the priorities and nothing else', () => {
    expect(PRIORITIES).to.have.members(['otp', 'normal', 'low']);
  });

  it('lets otp leave first and low after normal, promotional last of all', () => {
    expect(laneOf('transactional', 'otp')).to.equal(0);
    expect(laneOf('transactional', 'normal')).to.equal(laneOf('transactional'));
    expect(laneOf('transactional', 'low')).to.equal(2);
    for (const priority of PRIORITIES) expect(laneOf('promotional', priority)).to.equal(3);
  });

  it('has a lane of its own for promotional messages under DLT, which is shut at night', () => {
    for (const priority of PRIORITIES) {
      expect(laneOf('promotional', priority, 'on')).to.equal(HOURS_LANE);
      expect(laneOf('transactional', priority, 'on')).to.equal(laneOf('transactional', priority));
    }
  });

  it('gives each route a path of its own', () => {
    expect(ROUTES.map(pathOf)).to.deep.equal(['transactional', 'promotional']);
  });
});
