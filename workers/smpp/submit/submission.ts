import type { MessageDocument } from '../../../shared/messages/message.ts';
import type { SegmentAnswer } from './outcome.ts';

/** One claimed message on its way through one bind, and what is known of its segments. */
export class Submission {
  /** As it is stored, as far as we know. */
  message: MessageDocument;
  readonly segments: readonly Segment[];
  readonly answers: (SegmentAnswer | undefined)[];
  /** Rounds in which segments that were refused for now were sent again, and those of them that had been throttled. */
  resumed = 0;
  throttles = 0;

  /** `frames`: its submit_sm, one per segment. */
  constructor(message: MessageDocument, frames: readonly Buffer[]) {
    this.message = message;
    this.segments = frames.map((frame, index) => ({ submission: this, index, frame, late: false, sentMs: 0 }));
    this.answers = frames.map(() => undefined);
  }

  /** All answers when every segment has one; undefined while one is missing. */
  complete(): readonly SegmentAnswer[] | undefined {
    const answers = this.answers.flatMap((answer) => answer ?? []);
    return answers.length === this.segments.length ? answers : undefined;
  }
}

export interface Segment {
  readonly submission: Submission;
  readonly index: number;
  readonly frame: Buffer;
  /** Its answer did not come in time: its slot is free, its message was settled as unknown. */
  late: boolean;
  /** When it was written last, on the monotonic clock. */
  sentMs: number;
}
