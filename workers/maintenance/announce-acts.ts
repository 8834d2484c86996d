import type { CtaDocument } from '../../shared/carriers/cta.ts';
import type { SenderDocument } from '../../shared/carriers/sender.ts';
import { ACCOUNT_EVENT_NAMES, type AccountEventName, type NoticeName } from '../../shared/events/catalogue.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { HoldDocument } from '../../shared/messages/traffic/hold.ts';
import type { KeyDocument } from '../../shared/people/keys/key.ts';
import type { UserDocument } from '../../shared/people/users/user.ts';
import type { WithActs } from '../../shared/platform/runtime/act.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { mailLink, mailNotice, mayTell, type Notable, type TellDeps } from './tell.ts';
import { announceUnannounced } from './unannounced.ts';

export interface AnnounceDeps extends TellDeps {
  readonly announcer: Announcer;
}

/**
 * Announces what happened to keys, users, senders, CTAs and held prefixes: each is an entry of `unannounced` in the thing's own document,
 * added by the update that decided. Announced twice, it is one delivery and one mail to each. Returns of how many things.
 */
export async function announceActs(deps: AnnounceDeps): Promise<number> {
  const counts = await Promise.all([
    announceUnannounced<KeyDocument>(deps.db, 'keys', (keys) => tellEach(deps, keys)),
    announceUnannounced<SenderDocument>(deps.db, 'senders', (senders) => tellEach(deps, senders)),
    announceUnannounced<CtaDocument>(deps.db, 'ctas', (ctas) => tellEach(deps, ctas)),
    announceUnannounced<HoldDocument>(deps.db, 'traffic_holds', (holds) => tellEach(deps, holds)),
    announceUnannounced<UserDocument>(deps.db, 'users', async (users) => {
      await tellEach(deps, users);
      for (const user of users) {
        // Each link ends those before it.
        const link = user.unannounced?.findLast(({ event }) => event === 'link');
        if (link !== undefined) await mailLink(deps, user, link);
      }
    }),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}

type Thing = WithActs & { readonly _id: string; readonly account?: AccountId };

async function tellEach(deps: AnnounceDeps, things: readonly Thing[]): Promise<void> {
  for (const { _id, account, unannounced = [] } of things) {
    for (const { event, at, told, about } of unannounced) {
      const subject = about === undefined ? _id : `${_id} ${about}`;
      // Whoever adds an act names an event of the catalogue, or `link`.
      if (event !== 'link') await tell(deps, { event: event as AccountEventName, account, subject, at, told });
    }
  }
}

/** Tells webhooks and users, at most once in an hour of the same. Returns whether it was told. */
export async function tell(deps: AnnounceDeps, notable: Notable): Promise<boolean> {
  if (!(await mayTell(deps.db, notable, deps.clock.now()))) return false;
  const { event, account } = notable;
  if (account !== undefined && isAccountEvent(event)) {
    await deps.announcer.announce([{ ...notable, event, account }]);
  }
  await mailNotice(deps, notable);
  return true;
}

function isAccountEvent(event: NoticeName): event is AccountEventName {
  return ACCOUNT_EVENT_NAMES.some((name) => name === event);
}
