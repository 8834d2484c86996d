import { expect } from 'chai';
import { openness } from '../../../../shared/platform/runtime/own-file.ts';

describe('a file with a secret', () => {
  const rows: readonly [why: string, uid: number, mode: number, user: number, fault: RegExp | undefined][] = [
    ['of this user alone', 1000, 0o600, 1000, undefined],
    ['that this user may only read', 1000, 0o400, 1000, undefined],
    ['as `cp` makes it', 1000, 0o644, 1000, /^f holds a secret .*\(mode 0644\): chmod 600 f$/],
    ['that the group may read', 1000, 0o640, 1000, /chmod 600 f$/],
    ['that others may change', 1000, 0o602, 1000, /chmod 600 f$/],
    ['of another user', 1001, 0o600, 1000, /belongs to another user \(uid 1001, this is 1000\): chown 1000 f$/],
    ["of root's, for the group of a service", 0, 0o640, 1000, undefined],
    ["of root's, that the group may change", 0, 0o660, 1000, /chmod 600 f$/],
    ["of root's, for all", 0, 0o644, 1000, /chmod 600 f$/],
    ['of a user, read by root', 1000, 0o600, 0, undefined],
    ["of root's, read by root", 0, 0o640, 0, /chmod 600 f$/],
  ];
  for (const [why, uid, mode, user, fault] of rows) {
    it(`${fault === undefined ? 'is read' : 'is refused'}: ${why}`, () => {
      const found = openness('f', { uid, mode: 0o100000 | mode }, user);

      if (fault === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(fault);
    });
  }
});
