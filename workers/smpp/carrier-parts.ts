import type { BindTrouble } from '../../shared/carriers/bind-report.ts';
import { callbackUrl } from '../../shared/carriers/carrier.ts';
import { encodeSubmit } from '../../shared/carriers/smpp/submit-sm.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import type { ClaimGates } from '../../shared/messages/queue/claim-gates.ts';
import type { Stream } from '../../shared/messages/settlement/intents.ts';
import type { MessageLog } from '../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../shared/messages/settlement/settle-outcomes.ts';
import type { ListenForChanges } from '../../shared/platform/runtime/change-signal.ts';
import { Claimer } from './claim/claim.ts';
import type { Departures } from './claim/departures.ts';
import type { Serving } from './claim/serving.ts';
import { ReceiptDialect } from './dialect/receipt-dialect.ts';
import { Callbacks } from './http/callbacks.ts';
import { httpWire, requestWriter } from './http/http-wire.ts';
import type { InboundAnnouncer } from './inbound/announce-inbound.ts';
import { Inbound, type InboundRules } from './inbound/inbound.ts';
import { Measurements } from './monitoring/bind-reporter.ts';
import type { CarrierContext } from './monitoring/carrier-context.ts';
import { keysOf } from './receipts/receipt-match.ts';
import { Receive } from './receipts/receive.ts';
import { ReceiptSettler } from './receipts/settle-receipts.ts';
import { Bind, type BindState } from './session/bind.ts';
import { smppWire } from './session/wire.ts';
import { Answers } from './submit/answers.ts';
import { BindSubmitter } from './submit/bind-submitter.ts';
import { Breaker } from './submit/breaker.ts';
import { CarrierRate } from './submit/carrier-rate.ts';
import { AccountChains, Dispatch, type DispatchOptions } from './submit/dispatch.ts';
import { carrierForm, countSubmits, encodeMessage, References } from './submit/encode.ts';
import type { Segment } from './submit/submission.ts';

/** What a carrier's parts need, whichever process runs the carrier. */
export interface CarrierSupplies extends Omit<CarrierContext, 'held'> {
  readonly listen?: ListenForChanges | undefined;
  readonly announcer: Announcer;
  readonly gates: ClaimGates;
  readonly serving: Serving;
  readonly departures: Departures;
  readonly messageLog: MessageLog;
  readonly inboundAnnouncer: InboundAnnouncer;
  readonly rules: InboundRules;
  readonly password: string;
  /** Where carriers reach the gateway: HTTP carriers are told to post their receipts there. */
  readonly publicUrl: string;
}

export interface Holding {
  readonly lease: string;
  readonly epoch: number;
  /** Whether the lease is held at this moment. Asked before each write to a socket. */
  held(): boolean;
  onBindState(index: number, state: BindState, trouble?: BindTrouble): void;
  guarded(what: string, work: () => Promise<void>): Promise<void>;
}

/** After a receipt could not be stored, no receipts are read for this long. */
const SLOW_DOWN_MS = 1_000;
/** A receipt whose state is set to mean `hold` waits so long for a better receipt. */
const HOLD_MINUTES = 60;

/**
 * A carrier's parts, made in the order of their dependencies: what writes to the store, the binds, what gives work to
 * the binds. Nothing works before `start`, which tells the binds whom to call.
 */
export class CarrierParts {
  readonly #supplies: CarrierSupplies;
  readonly #holding: Holding;
  readonly claimer: Claimer;
  readonly outcomes: OutcomeSettler;
  readonly receipts: ReceiptSettler;
  readonly inbound: Inbound;
  /** The receipts that an HTTP carrier posted. Undefined for other carriers. */
  readonly callbacks: Callbacks | undefined;
  readonly unknowns: Settler;
  readonly answers: Answers;
  readonly breaker: Breaker;
  readonly measurements: Measurements;
  readonly rate: CarrierRate;
  readonly binds: readonly Bind<Segment>[];
  /** One submitter for each bind, in the order of the binds. */
  readonly submitters: readonly BindSubmitter<Segment>[];
  readonly dispatch: Dispatch;

  constructor(supplies: CarrierSupplies, holding: Holding) {
    this.#supplies = supplies;
    this.#holding = holding;
    const { db, clock, metrics, carrier, serving } = supplies;
    const { epoch, held } = holding;
    const isHttp = carrier.kind === 'http';
    const dialect = new ReceiptDialect(carrier);
    const { texts } = carrierForm(carrier);
    const slowDown = (): void => {
      for (const bind of this.binds) bind.pauseReading(SLOW_DOWN_MS);
    };
    this.claimer = new Claimer({ ...supplies, carrier: carrier._id, epoch, held });
    this.outcomes = new OutcomeSettler({
      ...supplies,
      settler: this.#settler('outcomes'),
      onKeys: (messages) => this.#onKeys(messages),
      onStored: (messages) => this.claimer.stored(messages),
      onGroup: (size) => metrics.settleSize.observe({ stream: 'outcomes' }, size),
    });
    this.receipts = new ReceiptSettler({
      ...supplies,
      rules: {
        carrier: carrier._id,
        parts: dialect.parts,
        holdMinutes: HOLD_MINUTES,
        submitsOf: (message) => (isHttp ? 1 : countSubmits(message, texts)),
        reasonOf: (state, error, word) => dialect.reasonOf(state, error, word),
        failover: { errors: carrier.receipts?.receiptFailover ?? [], next: (message) => serving.next(message) },
      },
      settler: this.#settler('receipts'),
      unborn: () => this.claimer.unborn,
      answers: this.outcomes,
      onGroup: (size) => metrics.settleSize.observe({ stream: 'receipts' }, size),
    });
    this.unknowns = this.#settler('unknowns');
    this.measurements = new Measurements(clock);
    this.rate = new CarrierRate({ clock, perSecond: carrier.perSecond });
    this.breaker = new Breaker(clock);
    const { claimer, outcomes, receipts, measurements, rate: tokens, breaker } = this;
    this.answers = new Answers({ ...supplies, measurements, outcomes, tokens, breaker });
    this.inbound = new Inbound({ ...supplies, held, slowDown });
    const receive = new Receive({ ...supplies, measurements, dialect, receipts, inbound: this.inbound, slowDown });
    const wire = isHttp
      ? httpWire<Segment>(carrier)
      : smppWire<Segment>({ ...supplies, delivers: receive, mayWrite: held });
    this.binds = Array.from({ length: carrier.binds }, (_, index) => new Bind<Segment>({ ...supplies, wire, index }));
    this.callbacks = isHttp ? new Callbacks({ ...supplies, receive, held }) : undefined;
    this.submitters = this.binds.map(
      () =>
        new BindSubmitter<Segment>({
          ...{ windowSize: carrier.windowSize, clock, tokens, mayWrite: held },
          onSubmit: (segment) => {
            segment.sentMs = clock.monotonicMs();
            metrics.submits.inc({ carrier: carrier._id });
          },
          onRoom: () => this.dispatch.wakeForRoom(),
        }),
    );
    const { answers, submitters } = this;
    const chains = new AccountChains({ db, clock, carrier });
    this.dispatch = new Dispatch({
      ...{ ...supplies, held, breaker, claimer, chains, outcomes, answers, tokens, submitters },
      encode: this.#encoder(),
    });
  }

  start(): void {
    const { answers, dispatch } = this;
    for (const [index, bind] of this.binds.entries()) {
      const submitter = this.submitters[index];
      if (submitter === undefined) continue; // Never: each bind has a submitter.
      bind.start({
        onSession: (session) => submitter.setSession(session),
        onState: (state, trouble) => {
          if (state === 'bound') dispatch.wakeForRoom();
          this.#holding.onBindState(index, state, trouble);
        },
        onAnswer: (segment, answer) => answers.onAnswer(submitter, segment, answer),
        onTimeout: (segment) => answers.onTimeout(submitter, segment),
        onLost: (lost) => answers.onLost(submitter, lost),
        unanswered: () => submitter.unanswered,
      });
    }
    dispatch.start();
  }

  #encoder(): DispatchOptions['encode'] {
    const { carrier, clock, metrics, password, publicUrl } = this.#supplies;
    if (carrier.kind === 'http') {
      const write = requestWriter({ carrier, password, callback: callbackUrl(publicUrl, carrier) });
      return (message) => {
        const written = write(message);
        return 'code' in written ? written : [written];
      };
    }
    const form = carrierForm(carrier);
    const count = form.texts.longText === 'udh16' ? 65_536 : 256;
    const references = new References(clock.now().getTime() & 0xff, count);
    const { dlt = 'off' } = carrier;
    return (message, chain) => {
      const encoded = encodeMessage(message, {
        form,
        now: clock.now(),
        reference: () => references.next(message.to),
        dlt: dlt === 'off' || chain === undefined ? dlt : { ...dlt, chain },
      });
      if (encoded.kind === 'unfit') return { code: encoded.code, reason: encoded.reason };
      if (encoded.encoding !== message.encoding) metrics.recoded.inc({ carrier: carrier._id, to: encoded.encoding });
      return encoded.segments.map((segment) => ({ frame: encodeSubmit(segment) }));
    };
  }

  #settler(stream: Stream): Settler {
    const { db, announcer } = this.#supplies;
    const { lease, epoch } = this.#holding;
    return new Settler({ db, announcer, lease, epoch, stream, isUnborn: (id) => this.claimer.isUnborn(id) });
  }

  /** New answers brought ids. Receipts with these ids will come, or came earlier and wait as orphans. */
  #onKeys(messages: readonly MessageDocument[]): void {
    for (const message of messages) this.receipts.expect(message);
    const keys = messages.flatMap((message) => [...keysOf(message)]);
    void this.#holding.guarded('adopt', () => this.receipts.adopt(keys));
  }
}
