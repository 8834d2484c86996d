import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { absoluteMs, IDLE_MS } from '../../../../gateway/access/sessions.ts';
import { newLink } from '../../../../shared/people/users/user.ts';
import { openGateway, TEST_CONFIG } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { OURS, SignInWorld } from './world.ts';

const manual = readFileSync(join(import.meta.dirname, '../../../../docs/operating.md'), 'utf8');
const MINUTE_MS = 60_000;

describe('what the manual says of sign-in (ASVS 6.1.1, 7.1.1, 7.1.2)', () => {
  it('6.1.1: limits of guesses, and that nobody is kept out', () => {
    expect(manual).to.include('five wrong tries of a name are free');
    expect(manual).to.include('15 minutes at most').and.include('20 wrong tries in 15 minutes');
    expect(manual).to.include('Nobody can keep a user out');
  });

  it('7.1.1, 7.1.2: idle and absolute limits, and sessions in parallel', () => {
    const hours = (role: 'owner' | 'operator') => absoluteMs({ role }) / 60 / MINUTE_MS;
    expect(manual).to.include(`${IDLE_MS / MINUTE_MS} minutes without a request end one`);
    expect(manual).to.include(`${hours('owner')} hours in any case (operators ${hours('operator')} hours)`);
    expect(manual).to.include('20 at once at most');
  });

  it('how long links are valid', () => {
    const now = new Date();
    const hours = (user: { password?: string }) =>
      (newLink(user, now).link.expiresAt.getTime() - now.getTime()) / 60 / MINUTE_MS;
    expect([hours({}) / 24, hours({ password: 'x' })]).to.deep.equal([7, 1]);
    expect(manual).to.include('7 days for an invitation, an hour for a reset');
  });

  it('who has not signed in is told so as often as asked; ended sessions are limited apart from keys', async () => {
    const world = await SignInWorld.open();
    const gateway = await openGateway(world.db, { config: { ...TEST_CONFIG, authFailuresPerMinute: 2 } });
    try {
      const asked = (headers: Record<string, string>) => fetch(`${gateway.url}/v2/session`, { headers });
      const answers = async (n: number, headers: Record<string, string>) => {
        const codes: string[] = [];
        for (let i = 1; i <= n; i++) codes.push(Reflect.get(Object(await (await asked(headers)).json()), 'code'));
        return codes;
      };
      expect(new Set(await answers(30, { ...OURS }))).to.deep.equal(new Set(['session_missing']));
      const ended = await answers(21, { ...OURS, Cookie: 'harkara=x' });
      expect(ended.indexOf('auth_failures_limited')).to.equal(20);
      const key = await fetch(`${gateway.url}/v2/balance`);
      expectProblem(
        { status: key.status, headers: Object.fromEntries(key.headers), body: await key.json() },
        'key_missing',
      );
    } finally {
      await gateway.close();
      await world.close();
    }
  });
});
