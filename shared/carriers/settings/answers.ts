import { type Shape, setting } from './setting.ts';
import { listOf } from './shapes.ts';

/**
 * What a command_status of submit_sm_resp means at this carrier, in an operator's words. command-status.ts has our own classes.
 */
const STATUS_WORDS = ['retry', 'throttle', 'fail', 'failover', 'bind'] as const;

export interface StatusMeaning {
  readonly status: number;
  readonly means: (typeof STATUS_WORDS)[number];
  /**
   * With `retry`: the pause before the first retry. With `throttle`: the pause of all submits. With `failover`: the pause of this
   * carrier, as long as others can take its messages.
   */
  readonly pauseSeconds?: number;
}

const LONGEST_PAUSE_SECONDS = 86_400;

const statusMeaning: Shape<StatusMeaning> = {
  value: 'STATUS=MEANING:SECONDS',
  form: `like 0x0401=failover or 0x14=retry:60, one of ${STATUS_WORDS.join(', ')}, perhaps with a pause in seconds`,
  parse: (text) => {
    const [, digits = '', word, pause] = /^0x([0-9a-f]{1,8})=([a-z]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
    const means = STATUS_WORDS.find((one) => one === word);
    const status = Number.parseInt(digits, 16);
    const pauseSeconds = pause === undefined ? undefined : Number(pause);
    // 0 always means success.
    if (means === undefined || !(status > 0)) return undefined;
    if (pauseSeconds === undefined) return { status, means };
    const pauses = means !== 'fail' && means !== 'bind' && pauseSeconds > 0 && pauseSeconds <= LONGEST_PAUSE_SECONDS;
    return pauses ? { status, means, pauseSeconds } : undefined;
  },
  show: ({ status, means, pauseSeconds }) => {
    const digits = status.toString(16).toUpperCase();
    const pause = pauseSeconds === undefined ? '' : `:${pauseSeconds}`;
    return `0x${digits.padStart(digits.length + (digits.length % 2), '0')}=${means}${pause}`;
  },
};

const MAX_MEANINGS = 100;

/** How to read the carrier's answers to submits. */
export const ANSWERS = {
  statusClass: setting(
    listOf(statusMeaning, MAX_MEANINGS),
    [],
    'what its own command_status values mean: refused for now (retry), slow down (throttle), refused for good (fail), refused here and ' +
      'perhaps not by the next carrier of the route (failover), the session is unusable (bind)',
    { kannel: 'fixed', jasmin: 'submit_error_retrial (all connectors)' },
  ),
};
