import type { Db } from 'mongodb';
import type { Exchange } from '../../shared/carriers/http/client.ts';
import { objectOf, parseObject } from '../../shared/carriers/providers/graph-error.ts';
import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import { putOffProbe, resumeProvider, tryProvider } from '../../shared/carriers/providers/store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { ProviderClient } from './provider/client.ts';

/** A minute after the stop, then after twice as long each time. */
const FIRST_MS = 60_000;
const LONGEST_MS = 15 * 60_000;

/** `tries`: how often it was found that the cause is not gone. */
export function nextProbe(now: Date, tries: number): NonNullable<ProviderDocument['probe']> {
  const pauseMs = Math.min(FIRST_MS * 2 ** Math.min(tries, 16), LONGEST_MS);
  return { at: new Date(now.getTime() + pauseMs), tries: tries + 1 };
}

/**
 * Whether the provider says that the number may send (Graph API, "health status"). `silent`: it does not say, so only a message
 * tells. Pure.
 */
function judgeHealth(exchange: Exchange): 'blocked' | 'may_send' | 'silent' {
  if (exchange.kind !== 'answered') return 'blocked';
  const { can_send_message: may } = objectOf(parseObject(exchange.body)?.health_status) ?? {};
  if (may === 'BLOCKED') return 'blocked';
  return may === 'AVAILABLE' || may === 'LIMITED' ? 'may_send' : 'silent';
}

/**
 * Asks a provider whose channel was stopped whether the cause is gone. If the provider says so, the channel goes on; if it does not
 * say, it goes on with one message, whose answer decides.
 */
export async function probeStopped(
  { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Log },
  provider: ProviderDocument,
  client: Pick<ProviderClient, 'number'>,
): Promise<void> {
  const { _id: number, account, probe } = provider;
  const health = judgeHealth(await client.number('health_status'));
  log.info('provider_probed', { account, number, health });
  if (health === 'blocked') await putOffProbe(db, number, nextProbe(clock.now(), probe?.tries ?? 0));
  else if (health === 'may_send') await resumeProvider(db, number);
  else await tryProvider(db, provider);
}
