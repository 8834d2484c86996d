import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import type { SegmentAnswer } from './outcome.ts';

/** One claimed message that is sent over one bind, with the answers to its segments. */
export class Submission {
  /** The message as it is stored, as far as we know. */
  message: MessageDocument;
  readonly segments: readonly Segment[];
  readonly answers: (SegmentAnswer | undefined)[];
  /** How often segments that were refused for now were sent again. `throttles` counts how often they were throttled. */
  resumed = 0;
  throttles = 0;

  /** `frames` are its submit_sm, one for each segment. */
  constructor(message: MessageDocument, frames: readonly Buffer[]) {
    this.message = message;
    this.segments = frames.map((frame, index) => ({ submission: this, index, frame, late: false, sentMs: 0 }));
    this.answers = frames.map(() => undefined);
  }

  /** All answers, once every segment has one. Undefined until then. */
  complete(): readonly SegmentAnswer[] | undefined {
    const answers = this.answers.flatMap((answer) => answer ?? []);
    return answers.length === this.segments.length ? answers : undefined;
  }
}

export interface Segment {
  readonly submission: Submission;
  readonly index: number;
  readonly frame: Buffer;
  /** The answer did not come in time: the slot was freed, and the message was settled as unknown. */
  late: boolean;
  /** When the segment was last written, by the monotonic clock. */
  sentMs: number;
}
