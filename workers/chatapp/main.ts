import { countryOf } from '../../shared/carriers/routing/country.ts';
import { AddressGuard, guardOptions } from '../../shared/events/webhooks/address-guard.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../shared/messages/document/routing.ts';
import { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import { MessageLog } from '../../shared/messages/settlement/message-log.ts';
import { createChatAccepter } from '../../shared/money/conversations/open.ts';
import { openSecretBox, runLeased } from '../../shared/platform/processes/run-app.ts';
import { checkDeparture } from './depart.ts';
import { HeaderSamples } from './header-samples.ts';
import { ChatWorker } from './worker.ts';

const PARTITIONS = 8;

runLeased('chatapp', PARTITIONS, async (deps) => {
  const { config, db, clock, log } = deps;
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits, countryOf };
  const accepter = createChatAccepter({ db, clock, log, prices });
  return new ChatWorker({
    ...deps,
    box: await openSecretBox(config, db),
    // Promotional hours apply to SMS only. Here the gates only say whose messages are on hold.
    gates: new ClaimGates({ db, clock, hours: DEFAULT_PROMOTIONAL_HOURS }),
    samples: new HeaderSamples(new AddressGuard(guardOptions(config))),
    messageLog: new MessageLog({ db, clock, log, days: config.messageLogDays }),
    accepter,
    depart: (messages) => checkDeparture({ db, clock }, messages),
    random: Math.random,
  });
});
