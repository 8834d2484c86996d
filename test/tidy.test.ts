import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  ecosystem,
  exportedValues,
  filesReachedFrom,
  importedNames,
  ROOT,
  reaches,
  readSources,
} from './support/sources.ts';

/**
 * House rules that the linter cannot check: which file may use which package, who reads clock and environment, which
 * layer imports which (runtime, config ← mongo, sms ← concepts ← gateway | a worker ← scripts).
 */
const sources = ['gateway', 'workers', 'shared', 'scripts']
  .flatMap((top) => readSources(join(ROOT, top)))
  // A package of its own, compiled with generated files beside it.
  .filter(({ path }) => !path.startsWith('scripts/clients/typescript/'));

const CLIENT = /^gateway\/dashboard\/client\//;

/**
 * Folders that read as packages, with a promise in their README, and what else of ours they import. The dashboard's
 * client uses the counting of texts, as its counter must agree with the price, and the reading of tables, as numbers
 * are the same wherever they are pasted: both are pure. The simulator reads SMPP by itself, or the tests against it
 * would prove nothing.
 */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  'workers/embedded-db/': /^shared\/platform\/(runtime|config)\//,
  'scripts/simulator/': /^$/,
  // And the types of the API's answers (TYPES_ALONE).
  'gateway/dashboard/client/': /^shared\/(messages\/sms-plan|platform\/sheets\/(encoding|parse|cell))\.ts$/,
};

/** The client uses types of answers from the endpoints' declarations, but no values, which the bundle would hold. */
const TYPES_ALONE = /^gateway\/(api\/endpoint|endpoints\/.+)\.ts$/;

/** Packages that exactly these files may import (values; a type costs nothing). */
const PACKAGE_HOMES: Readonly<Record<string, RegExp>> = {
  smpp: /^shared\/carriers\/smpp\/pdu\.ts$/,
  undici: /^shared\/events\/webhooks\/(post|connect)\.ts$|^scripts\/(dev|bench)\//,
  axios: /^shared\/carriers\/http\/client\.ts$/,
  lmdb: /^workers\/embedded-db\/storage\//,
  bson: /^workers\/embedded-db\/|^scripts\/bench\//,
  pino: /^shared\/platform\/runtime\/log\.ts$/,
  'prom-client': /^shared\/platform\/(runtime\/metrics|processes\/report)\.ts$/,
  'node-cron': /^workers\/maintenance\/start\.ts$/,
  // For requests and answers only.
  zod: /^gateway\//,
  'libphonenumber-js/max': /^shared\/(money\/accounts\/number-check|carriers\/routing\/country)\.ts$/,
  'ipaddr.js':
    /^shared\/(events\/webhooks\/address-guard|people\/keys\/allowed-addresses)\.ts$|^gateway\/(http|access)\//,
  mongodb:
    /^(shared(\/[a-z]+)?|gateway\/(http|endpoints)|workers\/smpp)\/[a-z-]+\/[a-z-]*store\.ts$|^shared\/platform\/mongo\/|^shared\/(money\/payment\/pending|messages\/queue\/queue-document)\.ts$|^scripts\//,
  standardwebhooks: /^scripts\/simulator\//,
  agenda: /^workers\/schedules\/alarm\.ts$/,
  '@agendajs/mongo-backend': /^workers\/schedules\/alarm\.ts$/,
  piscina: /^workers\/batches\/render-threads\.ts$|^gateway\/http\/threads\.ts$/,
  pm2: /^$/,
  commander: /^scripts\/(ops\/read-words|listen\/main)\.ts$/,
  // Loaded by the browser, or building for it.
  preact: CLIENT,
  'preact/hooks': CLIENT,
  'preact-iso/router': CLIENT,
  '@preact/signals': CLIENT,
  uplot: /^gateway\/dashboard\/client\/parts\/plot\.tsx$/,
  esbuild: /^scripts\/(dashboard\/build|clients\/main)\.ts$/,
  '@modelcontextprotocol/server': /^scripts\/clients\/mcp\/server\.ts$/,
  '@modelcontextprotocol/server/stdio': /^scripts\/clients\/mcp\/main\.ts$/,
};

/** The gateway begins a payment and others finish it. Both ends are read together, so they share a folder. */
const BOTH_ENDS = /^shared\/money\/payment\//;

/** Layers of shared/: a layer imports its own and earlier ones. Concepts (all others) come last. */
const LAYERS = ['platform/runtime/', 'platform/config/', 'platform/mongo/', 'messages/sms-plan.ts'];
const layerOf = (path: string): number => LAYERS.findIndex((place) => path.startsWith(`shared/${place}`));

/** The unit that must not import itself: a file's folder, or a file directly in a room of shared/. */
const subjectOf = (path: string): string => (/^shared\/[a-z]+\/[^/]+$/.test(path) ? path : dirname(path));

/** Exported values that no file of the product imports, and why. */
const FOR_TESTS: Readonly<Record<string, readonly string[]>> = {
  'a bound that its tests fill to the brim': [
    'gateway/endpoints/webhooks/deliveries.ts DELIVERY_WALK_MAX',
    'gateway/endpoints/messages/message-list.ts WALK_MAX',
    'gateway/endpoints/sms/paid-batch-store.ts UNPAID_BYTES_MAX',
    'shared/messages/queue/queue-document.ts WRITE_OUT_MS',
    'shared/messages/settlement/decide-outcome.ts MAX_TRIES',
    'workers/maintenance/settle-due.ts RECEIPT_WAIT_MS',
    'shared/events/webhooks/announce.ts GROUP_MAX',
    'workers/webhooks/endpoint-queues.ts HOSTS_PER_ACCOUNT',
    'workers/webhooks/endpoint-queues.ts IN_FLIGHT_MAX',
    'workers/webhooks/endpoint-queues.ts OPEN_MAX',
  ],
  'a table that its tests walk entry by entry': [
    'scripts/chaos/faults.ts CHAOS_DEFAULTS',
    'scripts/ops/run.ts COMMANDS',
    'scripts/simulator/magic-numbers.ts MAGIC_NUMBERS',
    'scripts/simulator/provider/magic-customers.ts MAGIC_CUSTOMERS',
    'shared/carriers/opt-outs/words.ts WORD_LISTS',
    'shared/messages/settlement/intents.ts STREAMS',
    'shared/platform/mongo/errors.ts OWN_FAULTS',
    'workers/maintenance/test-outcome.ts TEST_OUTCOMES',
  ],
  'a rule whose cases are too many to be told apart from outside': [
    'gateway/access/sessions.ts absoluteMs',
    'gateway/endpoints/docs/operation.ts constraintsOf',
    'gateway/endpoints/docs/operation.ts typeOf',
    'gateway/endpoints/keys/made-keys.ts narrowDescendants',
    'gateway/endpoints/messages/events.ts reachedBetween',
    'gateway/endpoints/messages/message-list.ts orderOf',
    'gateway/endpoints/messages/message-list.ts searchBy',
    'gateway/http/idempotency/once.ts fingerprintInSlices',
    'gateway/endpoints/sms/matching/mismatch.ts quoted',
    'gateway/endpoints/account-templates/templates.ts templateRefusals',
    'gateway/endpoints/carrier-callbacks/callback.ts isGenuine',
    'gateway/endpoints/carrier-callbacks/callback.ts toldReceipts',
    'gateway/endpoints/chatapp/provider-files.ts judgeFile',
    'gateway/endpoints/chatapp/provider-files.ts judgeLookUp',
    'gateway/endpoints/chatapp/provider-files.ts judgeNumber',
    'scripts/ops/opt-lists.ts customersOf',
    'gateway/endpoints/messages/obstacle.ts refusedBy',
    'gateway/endpoints/messages/obstacle.ts waitsFor',
    'shared/carriers/carrier-condition.ts carrierCondition',
    'shared/carriers/opt-outs/words.ts languagesOf',
    'shared/messages/batch.ts chunkId',
    'shared/money/ledger/store.ts together',
    'shared/money/conversations/charge.ts judgeCharge',
    'shared/messages/settlement/unknowns.ts decideByPolicy',
    'shared/templates/sms/csv.ts readTemplateCsv',
    'shared/platform/runtime/grouper.ts WindowSeen',
    'shared/platform/runtime/log.ts clean',
    'shared/platform/runtime/own-file.ts openness',
    'scripts/simulator/smpp/submit.ts concatenationOf',
    'scripts/simulator/smpp/submit.ts headerOf',
    'workers/batches/worker.ts roomInQueue',
    'workers/chatapp/header-samples.ts judgeUpload',
    'workers/chatapp/send-message.ts outcomeOf',
    'workers/chatapp/provider/template-list.ts readTemplatePage',
    'workers/chatapp/inbox.ts inboundMessage',
    'workers/smpp/inbound/opt-outs.ts limitHelp',
    'workers/smpp/inbound/whole-text.ts readSeptets',
    'workers/smpp/receipts/receipt-change.ts decideHeld',
    'workers/smpp/receipts/receipt-change.ts decideReceipt',
    'workers/smpp/receipts/receipt-change.ts decideUnknown',
    'workers/smpp/submit/encode.ts dltTlvs',
    'workers/smpp/submit/encode.ts validityPeriod',
    'workers/smpp/submit/split.ts packSeptets',
    'workers/smpp/submit/split.ts segmentText',
    'workers/maintenance/announce.ts mayTell',
    'workers/maintenance/brake.ts suspicious',
    'workers/maintenance/brake.ts usualIn',
    'workers/maintenance/settle-due.ts decideDue',
    'workers/webhooks/judge.ts nextTry',
  ],
  'a page that is compared with the file in the repository': [
    'scripts/ops/pages.ts carrierPage',
    'scripts/ops/pages.ts crashPointsPage',
    'scripts/ops/pages.ts envExample',
  ],
  'the tests start parts of the product themselves': [
    'gateway/metrics.ts createMetricsServer',
    'gateway/endpoints/keys/keys.ts newSealedText',
    'gateway/endpoints/keys/keys.ts openText',
    'gateway/endpoints/ledger/ledger.ts ledgerFile',
    'gateway/endpoints/live/live.ts ACCOUNT_SOURCES',
    'gateway/endpoints/messages/status.ts findMessageStatus',
    'gateway/endpoints/chatapp-callbacks/callback.ts partStore',
    'gateway/endpoints/sms/paid-batch-store.ts storeUnpaid',
    'gateway/endpoints/account-templates/requests.ts removeUnapproved',
    'gateway/endpoints/traffic/unclaimed.ts findOrphans',
    'gateway/endpoints/traffic/unclaimed.ts orphanPlace',
    'scripts/bench/fleet.ts logTail',
    'scripts/bench/fleet.ts startApp',
    'scripts/dev/settings.ts freePort',
    'scripts/ops/store-move.ts copyCollection',
    'scripts/ops/store-move.ts readContent',
    'shared/carriers/opt-outs/store.ts readScopes',
    'shared/messages/follow-on-sms.ts acceptOnce',
    'shared/messages/settlement/intents.ts fenceIntents',
    'shared/messages/settlement/intents.ts readIntents',
    'shared/money/conversations/include.ts insertBy',
    'shared/money/conversations/include.ts neverStore',
    'shared/platform/mongo/connect.ts OneSessionClient',
    'shared/platform/mongo/feature-probe.ts probeFeatures',
    'shared/platform/mongo/connect.ts repairDriver',
    'shared/platform/mongo/connect.ts storeUri',
    'shared/templates/sms/import-csv.ts importTemplates',
    'scripts/simulator/smsc/phone-text.ts phoneParts',
    'shared/people/keys/key-use.ts findKeyUses',
    'shared/people/keys/key-use.ts requestsOfDay',
    'workers/batches/stop.ts cancelGroup',
    'workers/batches/worker.ts BatchWorker',
    'workers/chatapp/claim.ts queuedFromOthers',
    'workers/chatapp/customers.ts linkCustomers',
    'workers/chatapp/held-partition.ts takePartition',
    'workers/chatapp/provider/template-list.ts readTemplate',
    'workers/mail/worker.ts MailWorker',
    'workers/maintenance/duties.ts issueMonth',
    'workers/maintenance/start.ts Timetable',
    'workers/schedules/worker.ts ScheduleWorker',
    'workers/chatapp/send-health.ts SendHealth',
    'workers/embedded-db/offline.ts checkTables',
    'workers/embedded-db/server.ts DroppedRemover',
    'workers/webhooks/worker.ts Replays',
  ],
  'named by a text, to a thread': [
    'gateway/http/in-thread.ts readTemplates',
    'workers/batches/render-slice.ts renderSlice',
  ],
};

describe('house rules', () => {
  it('a package is imported only in its home', () => {
    const found = sources.flatMap(({ path, imports }) =>
      imports
        .filter((module) => PACKAGE_HOMES[module] !== undefined && !PACKAGE_HOMES[module]?.test(path))
        .map((module) => `${path} imports ${module}`),
    );

    expect(found).to.deep.equal([]);
  });

  it('only config reads the environment, only clock the time', () => {
    const product = sources.filter(({ path }) => !path.startsWith('scripts/'));
    const found = product.flatMap(({ path, text }) => [
      ...(/process\.env/.test(text) && !path.startsWith('shared/platform/config/')
        ? [`${path} reads process.env`]
        : []),
      ...(/Date\.now\(\)|new Date\(\)|performance\.now\(\)/.test(text) &&
      path !== 'shared/platform/runtime/clock.ts' &&
      path !== 'gateway/dashboard/client/parts/now.ts' &&
      path !== 'gateway/endpoints/docs/guides.ts' && // Prints customers' programs.
      !['shared/platform/mongo/connect.ts'].includes(path) &&
      !path.startsWith('workers/embedded-db/')
        ? [`${path} reads the clock`]
        : []),
    ]);

    expect(found).to.deep.equal([]);
  });

  it('the rooms of shared/ import what its README says of each, and no more', () => {
    const map = readFileSync(join(ROOT, 'shared/README.md'), 'utf8');
    const said = [...map.matchAll(/^\| `([a-z]+)\/` +\|[^|]*\|([^|]*)\|$/gm)].map(([, room = '', others = '']) => {
      return { room, others: [...others.matchAll(/`([a-z/-]+)`/g)].map(([, other = '']) => other).sort() };
    });
    const made = said.map(({ room, others }) => {
      const imported = sources
        .filter(({ path }) => path.startsWith(`shared/${room}/`))
        .flatMap(({ names }) => names.filter((name) => !name.startsWith(`shared/${room}/`)))
        .map((name) => name.replace(/^shared\//, ''));
      // What the README names, or else the file that it should have named.
      const named = (file: string) => others.find((other) => file.startsWith(`${other}/`)) ?? file;
      return { room, others: [...new Set(imported.map(named))].sort() };
    });

    const rooms = readdirSync(join(ROOT, 'shared'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(said.map(({ room }) => room).sort()).to.deep.equal(rooms.map(({ name }) => name).sort());
    expect(made).to.deep.equal(said);
  });

  it('shared/ imports downwards: runtime, config, mongo and the plan of an SMS know no concept', () => {
    const found = sources
      .filter(({ path }) => path.startsWith('shared/'))
      .flatMap(({ path, imports }) => {
        const layer = layerOf(path);
        if (layer === -1) return [];
        return imports
          .filter((module) => module.startsWith('shared/'))
          .filter((module) => layerOf(module) === -1 || layerOf(module) > layer)
          .map((module) => `${path} imports ${module}`);
      });

    expect(found).to.deep.equal([]);
  });

  it('folders import one way: no circle leads from a folder back to it, not even of types', () => {
    const arrows = new Map<string, Set<string>>();
    for (const { path, names } of sources) {
      const from = subjectOf(path);
      const to = arrows.get(from) ?? new Set();
      for (const name of names) if (subjectOf(name) !== from) to.add(subjectOf(name));
      arrows.set(from, to);
    }

    expect([...arrows.keys()].filter((folder) => reaches(arrows, folder).has(folder)).sort()).to.deep.equal([]);
  });

  it('what one process alone uses lives with that process', () => {
    // PM2's file is read by PM2, so it counts as a process.
    const all = [...sources, ecosystem()];
    const byName = new Map(all.map((source) => [source.path, source]));
    const processes = new Map<string, Set<string>>();
    for (const { path } of all.filter((source) => !source.path.startsWith('shared/'))) {
      const [top = '', second = ''] = path.split('/');
      const owner = top === 'gateway' ? top : `${top}/${second}`;
      for (const used of filesReachedFrom(path, byName)) {
        if (used.startsWith('shared/')) processes.set(used, (processes.get(used) ?? new Set()).add(owner));
      }
    }
    const found = [...processes].filter(([path, owners]) => owners.size < 2 && !BOTH_ENDS.test(path));

    expect(found.map(([path, owners]) => `${path} is used by ${[...owners]} alone`)).to.deep.equal([]);
  });

  it('what is exported is imported by the product, or there is a reason', () => {
    const used = new Set([...sources, ecosystem()].flatMap(({ path, text }) => importedNames(path, text)));
    const unused = sources
      .flatMap(({ path, text }) =>
        // The list of endpoints imports whole files and takes their endpoints.
        exportedValues(text).map((name) => ({
          path,
          name,
          isEndpoint: new RegExp(`^export const ${name} = (endpoint|freeForm)\\(`, 'm').test(text),
        })),
      )
      .filter(({ path, name, isEndpoint }) => !used.has(`${path} ${name}`) && !(isEndpoint && used.has(`${path} *`)))
      .map(({ path, name }) => `${path} ${name}`);

    expect(unused).to.have.members(Object.values(FOR_TESTS).flat());
  });

  it('what reads as a package imports no more of the product than it says, not even types', () => {
    const found = Object.entries(PACKAGES).flatMap(([folder, allowed]) =>
      sources
        .filter(({ path }) => path.startsWith(folder))
        .flatMap(({ path, names, imports }) =>
          names
            .filter((name) => !name.startsWith(folder) && !allowed.test(name))
            .filter((name) => !CLIENT.test(path) || !TYPES_ALONE.test(name) || imports.includes(name))
            .map((name) => `${path} imports ${name}`),
        ),
    );
    const visitors = sources.flatMap(({ path, names }) =>
      names.filter((name) => CLIENT.test(name) && !CLIENT.test(path)).map((name) => `${path} imports ${name}`),
    );

    expect([...found, ...visitors]).to.deep.equal([]);
    for (const folder of Object.keys(PACKAGES))
      expect(readFileSync(join(ROOT, folder, 'README.md'), 'utf8')).to.include('The promise');
  });

  it('the client of the dashboard has types of its own, for browsers', () => {
    const client = join(ROOT, 'gateway/dashboard/client/tsconfig.json');
    const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', client], { encoding: 'utf8' });

    expect(stdout).to.equal('');
    expect(status).to.equal(0);
  });

  it('a worker imports no other worker', () => {
    const found = sources.flatMap(({ path, imports }) => {
      const [top, worker] = path.split('/');
      // It combines several workers.
      if (top !== 'workers' || path === 'workers/background/main.ts') return [];
      return imports
        .filter((module) => module.startsWith('workers/') && module.split('/')[1] !== worker)
        .map((module) => `${path} imports ${module}`);
    });

    expect(found).to.deep.equal([]);
  });

  it('no folder is an attic', () => {
    const attics = sources.filter(({ path }) => /\/(utils?|helpers?|types|common|misc)[./]/.test(path));

    expect(attics.map(({ path }) => path)).to.deep.equal([]);
  });

  it('the lock file names every optional platform package', () => {
    // Otherwise `npm ci` refuses it: npm drops packages that a registry does not serve (docs/decisions/0036).
    const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const locked = Object.keys(lock.packages);

    const missing = Object.values(lock.packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !locked.some((path) => path.endsWith(`node_modules/${name}`)));

    expect(missing).to.deep.equal([]);
  });

  it('no source speaks of work that is not done', () => {
    const marks = sources.filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text));

    expect(marks.map(({ path }) => path)).to.deep.equal([]);
  });
});
