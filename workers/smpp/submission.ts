import type { MessageDocument } from '../../shared/messages/message.ts';
import type { SegmentAnswer } from './outcome.ts';
import type { SubmitFields } from './pdu.ts';

/** One claimed message on its way through one bind, and what is known of its segments. */
export class Submission {
  /** As it is stored, as far as we know. */
  message: MessageDocument;
  readonly segments: readonly Segment[];
  readonly answers: (SegmentAnswer | undefined)[];
  /** Rounds in which segments that were refused for now were sent again. */
  resumed = 0;

  constructor(message: MessageDocument, fields: readonly SubmitFields[]) {
    this.message = message;
    this.segments = fields.map((one, index) => ({ submission: this, index, fields: one, late: false }));
    this.answers = fields.map(() => undefined);
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
  readonly fields: SubmitFields;
  /** Its answer did not come in time: its slot is free, its message was settled as unknown. */
  late: boolean;
}
