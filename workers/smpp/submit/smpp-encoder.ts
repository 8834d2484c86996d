import type { CarrierDlt, CarrierDocument } from '../../../shared/carriers/carrier.ts';
import { encodeSubmit } from '../../../shared/carriers/smpp/submit-sm.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import type { Refusal } from '../claim/departures.ts';
import type { SmppMetrics } from '../monitoring/metrics.ts';
import { carrierForm } from './carrier-form.ts';
import { encodeMessage } from './encode.ts';
import { References } from './references.ts';
import type { Frame } from './submission.ts';

export interface SmppEncoderOptions {
  readonly carrier: CarrierDocument;
  readonly clock: Clock;
  readonly metrics: Pick<SmppMetrics, 'recoded'>;
}

/** Makes the submit_sm of messages, one for each segment, as the carrier wants them; or says why no carrier can take the message. */
export function smppEncoder({
  carrier,
  clock,
  metrics,
}: SmppEncoderOptions): (
  message: MessageDocument,
  ownChain: readonly string[] | undefined,
) => readonly Frame[] | Refusal {
  const form = carrierForm(carrier);
  const wide = carrier.texts?.longText === 'udh16';
  const references = new References(clock.now().getTime() & 0xff, wide ? 65_536 : 256);
  const { dlt = 'off' } = carrier;
  return (message, ownChain) => {
    const encoded = encodeMessage(message, {
      form,
      now: clock.now(),
      reference: () => references.next(message.to),
      dlt: withChain(dlt, ownChain),
    });
    if (encoded.kind === 'unfit') return { code: encoded.code, reason: encoded.reason };
    if (encoded.encoding !== message.encoding) metrics.recoded.inc({ carrier: carrier._id, to: encoded.encoding });
    return encoded.segments.map((segment) => ({ frame: encodeSubmit(segment) }));
  };
}

function withChain(dlt: CarrierDlt | 'off', chain: readonly string[] | undefined): CarrierDlt | 'off' {
  return dlt === 'off' || chain === undefined ? dlt : { ...dlt, chain };
}
