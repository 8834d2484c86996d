import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { endReason } from '../../../scripts/dev/end-reason.ts';

describe('why a process did not start', () => {
  let logs: string;
  beforeEach(() => {
    logs = mkdtempSync(join(tmpdir(), 'harkara-logs-'));
  });
  afterEach(() => rmSync(logs, { recursive: true, force: true }));

  it('is the error that ended it, not what failed before and after', () => {
    writeFileSync(
      join(logs, 'smpp-out.log'),
      '{"msg":"a","error":"first"}\n{"msg":"start_failed","error":"HARKARA_PORT must be text."}\n{"msg":"stop_failed","error":"late"}\n',
    );

    expect(endReason(logs, 'smpp')).to.equal(
      `smpp did not start: HARKARA_PORT must be text.\nIts log: ${join(logs, 'smpp-out.log')}`,
    );
  });

  it('is the last error, when nothing is said to have ended it', () => {
    writeFileSync(join(logs, 'smpp-out.log'), '{"msg":"a","error":"first"}\n{"msg":"b","error":"second"}\n');

    expect(endReason(logs, 'smpp')).to.include('smpp did not start: second');
  });

  it('is what it wrote to stderr, when its log says nothing', () => {
    writeFileSync(join(logs, 'simulator-out.log'), 'SMSC on 127.0.0.1:2775\n');
    writeFileSync(join(logs, 'simulator-error.log'), '\nlisten EADDRINUSE\n    at stack\n');

    expect(endReason(logs, 'simulator')).to.include('simulator did not start: listen EADDRINUSE\n');
  });

  it('says at least where to look', () => {
    expect(endReason(logs, 'webhooks')).to.equal(`webhooks did not start\nIts log: ${join(logs, 'webhooks-out.log')}`);
  });
});
