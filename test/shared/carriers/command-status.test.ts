import {
  type CommandStatusClass,
  statusClass,
  statusReason,
  statusText,
} from '../../../shared/carriers/command-status.ts';

const CLASSES: Readonly<Record<CommandStatusClass, readonly number[]>> = {
  accepted: [0x00],
  throttled: [0x58],
  retry: [0x14, 0x08, 0x64, 0x45, 0xfe, 0xff],
  bind: [0x04, 0x05, 0x0d, 0x0e, 0x0f],
  failover: [0x0a, 0x0b, 0x15, 0x22, 0x48, 0x49, 0x50, 0x51, 0x53, 0x67],
  rejected: [
    0x01, 0x02, 0x03, 0x06, 0x07, 0x0c, 0x40, 0x42, 0x43, 0x44, 0x54, 0x55, 0x61, 0x62, 0x63, 0x65, 0x66, 0xc0, 0xc1,
    0xc2, 0xc3, 0xc4, 0x0400, 0x0401, 0x04ff, 0xffffffff,
  ],
};

describe('command_status of submit_sm_resp', () => {
  for (const [expected, statuses] of Object.entries(CLASSES)) {
    it(`${statuses.map(statusText).join(', ')}: ${expected}`, () => {
      expect(new Set(statuses.map((status) => statusClass(status)))).to.deep.equal(new Set([expected]));
    });
  }

  it('every status has a text and a reason for people', () => {
    expect(statusText(0x0b)).to.equal('0x0B');
    expect(statusText(0x0401)).to.equal('0x0401');
    expect(statusReason(0x0b)).to.equal('Invalid destination address');
    expect(statusReason(0x0401)).to.be.a('string').and.not.empty;
  });
});
