import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { SegmentAnswer } from './outcome.ts';

/** Where the request of an HTTP carrier goes: all of it but its body. */
export interface RequestTarget {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What is written for one segment: a submit_sm, or the body of a request with its target. */
export interface Frame {
  readonly frame: Buffer;
  readonly target?: RequestTarget;
}

/** One claimed message that is sent over one bind, with the answers to its segments. */
export class Submission {
  /** The message as it is stored, as far as we know. */
  message: MessageDocument;
  readonly segments: readonly Segment[];
  readonly answers: (SegmentAnswer | undefined)[];
  /** How often segments that were refused for now were sent again. `throttles` counts how often they were throttled. */
  resumed = 0;
  throttles = 0;

  /** `frames`: one for each segment. The one request of an HTTP carrier is one segment, however long the text. */
  constructor(message: MessageDocument, frames: readonly Frame[]) {
    this.message = message;
    this.segments = frames.map((frame, index) => ({ submission: this, index, ...frame, late: false, sentMs: 0 }));
    this.answers = frames.map(() => undefined);
  }

  /** All answers, once every segment has one. Undefined until then. */
  complete(): readonly SegmentAnswer[] | undefined {
    const answers = this.answers.flatMap((answer) => answer ?? []);
    return answers.length === this.segments.length ? answers : undefined;
  }
}

export interface Segment extends Frame {
  readonly submission: Submission;
  readonly index: number;
  /** The answer did not come in time: the slot was freed, and the message was settled as unknown. */
  late: boolean;
  /** When the segment was last written, by the monotonic clock. */
  sentMs: number;
}
