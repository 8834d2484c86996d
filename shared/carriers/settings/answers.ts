import { listOf, type Shape, setting } from './setting.ts';

/** An operator's words for what a refusal means at a carrier. Our own classes: command-status.ts. */
export const REFUSAL_WORDS = ['retry', 'throttle', 'fail', 'failover', 'bind'] as const;

export interface Meaning<Word extends string> {
  readonly means: Word;
  /** The pause before the first `retry`, of all submits (`throttle`), or of this carrier (`failover`). */
  readonly pauseSeconds?: number;
}

const PAUSING: readonly string[] = ['retry', 'throttle', 'failover'];
const LONGEST_PAUSE_SECONDS = 86_400;

/** `retry:60`: a word, perhaps with a pause in seconds. */
export function readMeaning<Word extends string>(words: readonly Word[], text: string): Meaning<Word> | undefined {
  const [, word = '', pause] = /^([a-z]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const means = words.find((one) => one === word);
  if (means === undefined || pause === undefined) return means && { means };
  const pauseSeconds = Number(pause);
  const pauses = PAUSING.includes(means) && pauseSeconds > 0 && pauseSeconds <= LONGEST_PAUSE_SECONDS;
  return pauses ? { means, pauseSeconds } : undefined;
}

export function showMeaning({ means, pauseSeconds }: Meaning<string>): string {
  return pauseSeconds === undefined ? means : `${means}:${pauseSeconds}`;
}

export interface StatusMeaning extends Meaning<(typeof REFUSAL_WORDS)[number]> {
  /** A command_status of submit_sm_resp. */
  readonly status: number;
}

const statusMeaning: Shape<StatusMeaning> = {
  value: 'STATUS=MEANING:SECONDS',
  form: `like 0x0401=failover or 0x14=retry:60, one of ${REFUSAL_WORDS.join(', ')}, perhaps with a pause in seconds`,
  parse: (text) => {
    const [, digits = '', said = ''] = /^0x([0-9a-f]{1,8})=(.*)$/i.exec(text) ?? [];
    const meaning = readMeaning(REFUSAL_WORDS, said);
    const status = Number.parseInt(digits, 16);
    // 0 always means success.
    return meaning === undefined || !(status > 0) ? undefined : { status, ...meaning };
  },
  show: ({ status, ...meaning }) => {
    const digits = status.toString(16).toUpperCase();
    return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}=${showMeaning(meaning)}`;
  },
};

const MAX_MEANINGS = 100;

export const ANSWERS = {
  statusClass: setting(
    listOf(statusMeaning, MAX_MEANINGS),
    [],
    'what its own command_status values mean: refused for now (retry), slow down (throttle), refused for good (fail), refused here and ' +
      'perhaps not by the next carrier of the route (failover), the session is unusable (bind)',
  ),
};
