import type { Db } from 'mongodb';
import { readQueues } from '../../../shared/messages/queue/waiting-lanes.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { APPS } from '../../../shared/platform/processes/apps.ts';
import { livingProcesses } from '../../../shared/platform/processes/report.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { countWaiting } from '../../../shared/templates/sms/approval-queue.ts';
import { sendJson } from '../../http/answer.ts';
import type { Handler, Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { readCarriers } from '../carriers/list.ts';
import { readProviders } from '../carriers/providers.ts';
import { queueRecord } from './queues.ts';
import { wrongNow } from './wrong-now.ts';

/** Beyond this, "at least" is told. */
const COUNTED_MAX = 1_000;

/** GET /v2/admin/overview (extension): what is wrong now in words, then the binds, the queues and what waits for a decision. */
export function createOperatorsOverview({ db, clock }: Pick<GatewayDeps, 'db' | 'clock'>): Handler {
  return async (_req, res: Reply) => {
    sendJson(res, await readOverview(db, clock));
  };
}

/** Contains no current time and no ages: the stream sends it whenever its JSON differs from the last one (endpoints/live/source.ts). */
export async function readOverview(db: Db, clock: Clock): Promise<object> {
  const now = clock.now();
  const [carriers, queues, providers, waiting, accounts, suspended, processes] = await Promise.all([
    readCarriers(db, now),
    readQueues(db),
    readProviders(db),
    waitingApprovals(db),
    db.collection<AccountDocument>('accounts').estimatedDocumentCount(),
    db.collection<AccountDocument>('accounts').countDocuments({ held: true }, { limit: COUNTED_MAX }),
    livingProcesses(db),
  ]);
  const missing = WORKERS.filter((app) => !processes.some((one) => one.app === app));
  const proxies = processes.flatMap(({ notes }) => notes?.ignoredProxy ?? []).sort();
  const ignoredProxies = [...new Set(proxies)];
  return {
    wrong: wrongNow({ carriers, queues, providers, missing, ignoredProxies, now }),
    carriers: {
      all: carriers.length,
      bound: carriers.filter(({ condition }) => condition === 'bound').length,
    },
    queues: queues.map(queueRecord),
    approvals: waiting,
    accounts: { all: accounts, held: suspended },
  };
}

async function waitingApprovals(db: Db) {
  const [senders, templates] = await Promise.all([
    countWaiting(db, 'senders', COUNTED_MAX),
    countWaiting(db, 'templates', COUNTED_MAX),
  ]);
  return { senders, templates };
}

/** The workers that every installation needs. */
const WORKERS = APPS.filter((app) => app !== 'embedded-db' && app !== 'gateway');
