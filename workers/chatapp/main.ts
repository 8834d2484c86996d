import { ClaimGates } from '../../shared/claim/claim-gates.ts';
import { createChatAccepter } from '../../shared/conversations/open.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../shared/messages/promotional-hours.ts';
import { openSecretBox } from '../../shared/processes/open-secret-box.ts';
import { runLeased } from '../../shared/processes/run-leased.ts';
import { MessageLog } from '../../shared/settlement/log-store.ts';
import { AddressGuard, guardOptions } from '../../shared/webhooks/address-guard.ts';
import { checkDeparture } from './depart.ts';
import { HeaderSamples } from './samples/header-samples.ts';
import { ChatWorker } from './worker.ts';

/** Number of partitions that the accounts are divided into. */
const PARTITIONS = 8;

runLeased('chatapp', PARTITIONS, async (deps) => {
  const { config, db, clock, log } = deps;
  const prices = { userCredits: config.chatUserCredits, businessCredits: config.chatBusinessCredits };
  const accepter = createChatAccepter({ db, clock, log, prices });
  return new ChatWorker({
    ...deps,
    box: await openSecretBox(config, db),
    // Promotional hours apply to SMS only. Here the gates only say whose messages are on hold.
    gates: new ClaimGates({ db, clock, hours: DEFAULT_PROMOTIONAL_HOURS }),
    samples: new HeaderSamples(new AddressGuard(guardOptions(config))),
    messageLog: new MessageLog({ db, clock, log, days: config.messageLogDays }),
    depart: (messages) => checkDeparture({ db, clock, accepter }, messages),
    random: Math.random,
  });
});
