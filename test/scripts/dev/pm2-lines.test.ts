import { expect } from 'chai';
import { parsePm2Line } from '../../../scripts/dev/pm2-lines.ts';

describe("PM2's lines", () => {
  const cases: readonly [line: string, news: ReturnType<typeof parsePm2Line>][] = [
    ['2026-11-21T16:50:17: PM2 log: App [embedded-db:0] online', { kind: 'online', app: 'embedded-db' }],
    [
      '2026-11-21T16:50:17: PM2 log: App [gateway:12] exited with code [1] via signal [SIGINT]',
      { kind: 'ended', app: 'gateway', code: 1, signal: 'SIGINT' },
    ],
    ['2026-11-21T16:50:17: PM2 log: App [gateway:2] starting in -cluster mode-', undefined],
    ['{"level":30,"msg":"App [gateway:2] online"}', undefined],
  ];
  for (const [line, news] of cases) {
    it(`${news?.kind ?? 'nothing'}: ${line}`, () => {
      expect(parsePm2Line(line)).to.deep.equal(news);
    });
  }
});
