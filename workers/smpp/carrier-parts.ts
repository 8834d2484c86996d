import type { Db } from 'mongodb';
import type { BindTrouble } from '../../shared/carriers/bind-report.ts';
import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import type { ClaimGates } from '../../shared/claim/claim-gates.ts';
import type { ListenForChanges } from '../../shared/mongo/change-signal.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { Throttle } from '../../shared/runtime/throttle.ts';
import type { Stream } from '../../shared/settlement/intents.ts';
import type { MessageLog } from '../../shared/settlement/log-store.ts';
import { Settler } from '../../shared/settlement/settle.ts';
import { OutcomeSettler } from '../../shared/settlement/settle-outcomes.ts';
import type { Announcer } from '../../shared/webhooks/announce.ts';
import { Claimer } from './claim/claim.ts';
import type { Departures } from './claim/departures.ts';
import { keysOf } from './receipts/receipt-lookup.ts';
import { Receive } from './receipts/receive.ts';
import { ReceiptSettler } from './receipts/settle-receipts.ts';
import { Bind, type BindState } from './session/bind.ts';
import type { Figures } from './session/figures.ts';
import { Window } from './session/window.ts';
import { AccountChains } from './submit/account-chains.ts';
import { Answers } from './submit/answers.ts';
import { Dispatch } from './submit/dispatch.ts';
import { References } from './submit/encode.ts';
import type { Line } from './submit/line.ts';
import type { Segment } from './submit/submission.ts';

/** What a carrier's parts are made of, whoever holds it. */
export interface CarrierSupplies {
  readonly db: Db;
  readonly listen?: ListenForChanges | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: Figures;
  readonly announcer: Announcer;
  readonly gates: ClaimGates;
  readonly departures: Departures;
  readonly messageLog: MessageLog;
  readonly carrier: CarrierDocument;
  /** Opened. */
  readonly password: string;
}

/** Under which lease they work. */
export interface Holding {
  readonly lease: string;
  readonly epoch: number;
  /** Whether the lease is held at this moment: asked before each write to a socket. */
  held(): boolean;
  onBindState(index: number, state: BindState, trouble?: BindTrouble): void;
  guarded(what: string, work: () => Promise<void>): Promise<void>;
}

/** What sends a carrier's messages, hears of them and settles them, joined. */
export interface CarrierParts {
  readonly lines: readonly Line[];
  readonly dispatch: Dispatch;
  readonly answers: Answers;
  readonly outcomes: OutcomeSettler;
  readonly receipts: ReceiptSettler;
  readonly unknowns: Settler;
}

/** How long a receipt waits for answers that are just being stored. */
const ANSWERS_STORED_MS = 250;
/** No receipts are read for so long after one could not be stored. */
const SLOW_DOWN_MS = 1_000;

/** Nothing is started yet. */
export function joinParts(supplies: CarrierSupplies, holding: Holding): CarrierParts {
  const { log, figures, carrier } = supplies;
  const { receipts, outcomes, unknowns } = joinSettlers(supplies, holding);
  const lines: Line[] = [];
  const { dispatch, answers, throttle } = joinDispatch(supplies, holding, { outcomes, lines });
  const receive = new Receive({
    carrier,
    log,
    figures,
    receipts,
    slowDown: () => {
      for (const { bind } of lines) bind.pauseReading(SLOW_DOWN_MS);
    },
  });
  for (let index = 0; index < carrier.binds; index++) {
    lines.push(joinLine(supplies, holding, { index, dispatch, answers, receive, throttle }));
  }
  return { lines, dispatch, answers, outcomes, receipts, unknowns };
}

/** Answers and receipts wait for each other: an answer brings the id by which a receipt that came first finds its message. */
function joinSettlers(
  { db, clock, log, figures, announcer, carrier, messageLog }: CarrierSupplies,
  { lease, epoch, guarded }: Holding,
): Pick<CarrierParts, 'receipts' | 'outcomes' | 'unknowns'> {
  const settler = (stream: Stream): Settler => new Settler({ db, announcer, lease, epoch, stream });
  const receipts: ReceiptSettler = new ReceiptSettler({
    db,
    clock,
    carrier: carrier._id,
    settler: settler('receipts'),
    messageLog,
    answersStored: () => outcomes.settled(ANSWERS_STORED_MS),
    onGroup: (size) => figures.settleSize.observe({ stream: 'receipts' }, size),
  });
  const outcomes: OutcomeSettler = new OutcomeSettler({
    clock,
    log,
    settler: settler('outcomes'),
    messageLog,
    onKeys: (messages) => {
      for (const message of messages) receipts.expect(message);
      const keys = messages.flatMap((message) => [...keysOf(message)]);
      void guarded('adopt', () => receipts.adopt(keys));
    },
    onGroup: (size) => figures.settleSize.observe({ stream: 'outcomes' }, size),
  });
  return { receipts, outcomes, unknowns: settler('unknowns') };
}

function joinDispatch(
  { db, listen, clock, log, figures, carrier, gates, departures }: CarrierSupplies,
  { epoch, held }: Holding,
  { outcomes, lines }: { readonly outcomes: OutcomeSettler; readonly lines: readonly Line[] },
): { dispatch: Dispatch; answers: Answers; throttle: Throttle } {
  const throttle = new Throttle({ clock, perSecond: carrier.perSecond });
  const answers = new Answers({ carrier, log, figures, outcomes, throttle });
  const dispatch = new Dispatch({
    carrier,
    clock,
    log,
    figures,
    claimer: new Claimer({ db, clock, carrier: carrier._id, epoch, paths: carrier.paths, gates }),
    departures,
    chains: new AccountChains({ db, clock, carrier }),
    outcomes,
    answers,
    throttle,
    references: new References(clock.now().getTime() & 0xff),
    lines: () => lines,
    listen,
    held,
  });
  return { dispatch, answers, throttle };
}

interface LineParts {
  readonly index: number;
  readonly dispatch: Dispatch;
  readonly answers: Answers;
  readonly receive: Receive;
  readonly throttle: Throttle;
}

function joinLine(
  { clock, log, figures, carrier, password }: CarrierSupplies,
  { held, onBindState }: Holding,
  { index, dispatch, answers, receive, throttle }: LineParts,
): Line {
  const bind: Bind<Segment> = new Bind<Segment>({
    carrier,
    password,
    index,
    clock,
    log,
    mayWrite: held,
    onState: (state, trouble) => {
      if (state === 'bound') dispatch.room();
      onBindState(index, state, trouble);
    },
    onAnswer: (segment, answer) => answers.onAnswer(line, segment, answer),
    onTimeout: (segment) => answers.onTimeout(line, segment),
    onLost: (lost) => answers.onLost(line, lost),
    onDeliver: (deliver, answer) => void receive.take(deliver, answer),
    unanswered: () => line.window.unanswered,
  });
  const window = new Window<Segment>({
    size: carrier.windowSize,
    throttle,
    ready: () => bind.ready && held(),
    write: (segment) => {
      figures.submits.inc({ carrier: carrier._id });
      bind.submit(segment.frame, segment);
    },
    onRoom: () => dispatch.room(),
  });
  const line: Line = { bind, window };
  return line;
}
