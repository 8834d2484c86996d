import type { Db } from 'mongodb';
import { readBindReports } from '../../shared/carriers/bind-report-store.ts';
import { carrierLease } from '../../shared/carriers/carrier.ts';
import { listCarriers } from '../../shared/carriers/store.ts';
import { heldEpochs } from '../../shared/leases/holders.ts';
import { listOfPath } from '../../shared/routing/path.ts';
import { mayTake, type Standing, standingOf } from '../../shared/routing/standing.ts';
import { listRoutes } from '../../shared/routing/store.ts';
import { type Routable, RouteTable } from '../../shared/routing/table.ts';
import type { Answer } from './command.ts';
import { groupsText, matchText } from './route-words.ts';

/** Shows which carrier would take a message now, and why. Stores nothing. */
export async function explainRoute(db: Db, message: Routable, now: Date): Promise<Answer> {
  const carriers = await listCarriers(db);
  const leases = carriers.map(({ _id }) => carrierLease(_id));
  const [routes, epochs, reports] = await Promise.all([
    listRoutes(db),
    heldEpochs(db, leases, now),
    readBindReports(db),
  ]);
  const standings = new Map(
    carriers.map((carrier) => {
      const { _id } = carrier;
      return [_id, standingOf(carrier, epochs.get(carrierLease(_id)), reports.get(_id), now)];
    }),
  );
  const table = new RouteTable(routes, carriers);
  const found = table.resolve(message);
  const others = table.matches(message).filter(({ _id }) => _id !== found.route?._id);
  if (found.kind === 'no_route') {
    const text = `Nobody: ${found.why}. Sends to it get 400 no_route.`;
    return { text, json: { carrier: null, why: found.why, route: found.route?._id ?? null } };
  }
  const { path, route } = found;
  const asked = listOfPath(path)?.carriers ?? table.served.get(path) ?? [];
  const takes = asked.filter((one) => {
    const state = standings.get(one)?.state;
    return (state === 'up' || state === 'tripped') && mayTake(path, asked, one, state, standings, now);
  });
  const inWords = asked.map((one) => ({
    carrier: one,
    state: standingWords(standings.get(one)),
    takes: takes.includes(one),
  }));
  const by =
    route === undefined
      ? `No route is configured: the carriers with ${path} in their \`paths\` share it.`
      : `By the route ${route._id} (${matchText(route.match)}): ${groupsText(route.groups)}, the next one after ${route.waitSeconds} s.`;
  const lines = [
    takes.length === 0
      ? 'Nobody at the moment: it would be accepted and wait.'
      : `${takes.join(' or ')} would carry it.`,
    by,
    ...inWords.map(
      ({ carrier, state, takes: now }, at) => `  ${at + 1}. ${carrier}: ${state}${now ? ' ← takes it' : ''}`,
    ),
    ...(others.length === 0 ? [] : [`Also matching, but less: ${others.map(({ _id }) => _id).join(', ')}.`]),
  ];
  const json = {
    carrier: takes[0] ?? null,
    route: route?._id ?? null,
    path,
    carriers: inWords,
    others: others.map(({ _id }) => _id),
  };
  return { text: lines.join('\n'), json };
}

function standingWords({ state, since, behindSince }: Standing = { state: 'down' }): string {
  const from = since === undefined ? '' : ` since ${since.toISOString()}`;
  const behind = behindSince === undefined ? '' : `, behind since ${behindSince.toISOString()}`;
  switch (state) {
    case 'up':
      return `up${behind}`;
    case 'tripped':
      return `refuses nearly everything: only what no other can take${behind}`;
    case 'down':
      return `down${from}`;
    case 'paused':
      return 'paused';
  }
}
