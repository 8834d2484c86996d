import type { AnswerOf } from '../../../../api/endpoint.ts';
import type { profile } from '../../../../endpoints/sign-in/profile.ts';

/** The answer of `GET /v2/profile`. */
export type Profile = AnswerOf<typeof profile>;
