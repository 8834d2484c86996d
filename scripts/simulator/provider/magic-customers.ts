import { RecentCounts } from '../pace/pace.ts';
import { type GraphError, type Json, list, object } from './http.ts';

/** What happens to messages to a customer. By default they are sent, delivered and read. */
export interface MagicCustomer {
  readonly refuse?: GraphError;
  /** The first `times` sends of a message get this; the next one gets the rest of the plan. */
  readonly first?: { readonly times: number; readonly refuse?: GraphError; readonly answer?: 'cut' };
  /** After acceptance: `cut` breaks the connection, `never` sends no answer, `late` answers after the statuses. */
  readonly answer?: 'cut' | 'never' | 'late';
  /** In order, one status delay apart. */
  readonly statuses?: readonly StatusPlan[];
}

export interface StatusPlan {
  readonly status: 'sent' | 'delivered' | 'read' | 'played' | 'failed';
  readonly error?: GraphError;
}

export const ERRORS = {
  payment: error(400, 131042, 'Business eligibility payment issue', 'There is a problem with the payment method.'),
  token: error(401, 190, 'Access token has expired', 'The access token is not valid.'),
  throughput: error(429, 130429, 'Rate limit hit', 'Message failed to send because there were too many messages sent.'),
  pairRate: error(
    400,
    131056,
    '(Business Account, Consumer Account) pair rate limit hit',
    'Too many messages to this customer.',
  ),
  unavailable: error(503, 131016, 'Service unavailable', 'A service is temporarily unavailable.'),
  undeliverable: error(400, 131026, 'Message undeliverable', 'Message Undeliverable.'),
  userId: error(
    400,
    131062,
    'Recipient not supported',
    'Business-scoped User ID (BSUID) recipients are not supported for this message.',
  ),
  reEngagement: error(
    400,
    131047,
    'Re-engagement message',
    'More than 24 hours have passed since the customer last replied.',
  ),
  country: error(
    403,
    130497,
    'Business account is restricted from messaging users in this country',
    'The account may send no messages to users in this country.',
  ),
  media: error(400, 131053, 'Media upload error', 'The media could not be downloaded.'),
  paused: error(400, 132015, 'Template is paused', 'The template is paused for low quality.'),
  disabled: error(400, 132016, 'Template is disabled', 'The template is disabled for good, for low quality.'),
  format: error(400, 132012, 'Parameter format does not match format in the created template', 'Format mismatch'),
  templateParameters: error(
    400,
    132018,
    "There's an issue with the parameters in your template",
    'A parameter does not fit the template',
  ),
  noTemplate: error(
    404,
    132001,
    'Template name does not exist in the translation',
    'The template does not exist in this language.',
  ),
  paramCount: error(
    400,
    132000,
    'Number of parameters does not match the expected number of params',
    'body: number of parameters does not match',
  ),
  parameter: error(400, 100, 'Invalid parameter', 'Invalid parameter'),
  missing: error(400, 131008, 'Required parameter is missing', 'A required parameter is missing'),
  value: error(400, 131009, 'Parameter value is not valid', 'A parameter has a value that is not valid'),
} as const;

function error(http: number, code: number, title: string, details: string): GraphError {
  return { http, code, title, details };
}

const USUAL: readonly StatusPlan[] = [{ status: 'sent' }, { status: 'delivered' }, { status: 'read' }];
/** "Reaction messages": a reaction has no other status. */
const REACTED: readonly StatusPlan[] = [{ status: 'sent' }];
/** Audio also gets `played` when it is listened to. */
const PLAYED: readonly StatusPlan[] = [...USUAL, { status: 'played' }];
const NOT_READ: readonly StatusPlan[] = [{ status: 'sent' }, { status: 'delivered' }];
/** The provider fetches a link after its answer, so it reports a failure by a status. */
const NOT_FETCHED: MagicCustomer = { statuses: [{ status: 'failed', error: ERRORS.media }] };

/** docs/magic-numbers.md has the same table for people. */
export const MAGIC_CUSTOMERS: readonly (MagicCustomer & { readonly ending: string; readonly meaning: string })[] = [
  {
    ending: '301',
    meaning: 'taken, then failed (131026)',
    statuses: [{ status: 'sent' }, { status: 'failed', error: ERRORS.undeliverable }],
  },
  { ending: '302', meaning: 'refused (131026)', refuse: ERRORS.undeliverable },
  { ending: '303', meaning: 'refused (131047), as if the session were closed', refuse: ERRORS.reEngagement },
  {
    ending: '304',
    meaning: 'throughput limit (130429) twice, then delivered',
    first: { times: 2, refuse: ERRORS.throughput },
    statuses: NOT_READ,
  },
  {
    ending: '305',
    meaning: 'pair rate limit (131056) once, then delivered',
    first: { times: 1, refuse: ERRORS.pairRate },
    statuses: NOT_READ,
  },
  {
    ending: '306',
    meaning: 'unavailable (131016) twice, then delivered',
    first: { times: 2, refuse: ERRORS.unavailable },
    statuses: NOT_READ,
  },
  { ending: '307', meaning: 'read without delivered', statuses: [{ status: 'sent' }, { status: 'read' }] },
  {
    ending: '308',
    meaning: 'statuses in the wrong order',
    statuses: [{ status: 'read' }, { status: 'delivered' }, { status: 'sent' }],
  },
  { ending: '309', meaning: 'every status twice', statuses: [...USUAL, ...USUAL] },
  { ending: '310', meaning: 'the answer comes after the statuses', answer: 'late', statuses: NOT_READ },
  {
    ending: '311',
    meaning: 'taken, and the connection breaks instead of an answer',
    answer: 'cut',
    statuses: NOT_READ,
  },
  { ending: '312', meaning: 'taken, and nothing is answered', answer: 'never', statuses: NOT_READ },
  { ending: '313', meaning: 'taken, no status ever', statuses: [] },
  {
    ending: '314',
    meaning: 'failed, then delivered all the same',
    statuses: [{ status: 'sent' }, { status: 'failed', error: ERRORS.undeliverable }, { status: 'delivered' }],
  },
  { ending: '315', meaning: 'taken, then failed: media cannot be had (131053)', ...NOT_FETCHED },
  { ending: '316', meaning: 'access token refused (190)', refuse: ERRORS.token },
  { ending: '317', meaning: 'template paused (132015)', refuse: ERRORS.paused },
  { ending: '318', meaning: 'delivered, not read', statuses: NOT_READ },
  { ending: '319', meaning: 'refused with HTTP 403 (130497): not into this country', refuse: ERRORS.country },
];

/** A media link with this text is accepted and then fails for every customer: the provider cannot fetch it. */
const UNFETCHABLE = 'unfetchable';

function ofMedia(body: Json): MagicCustomer | undefined {
  const header = list(object(body.template)?.components).find(({ type }) => type === 'header');
  const holders = [body, ...list(header?.parameters)];
  const links = holders.map((holder) => object(holder[String(holder.type)])?.link);
  return links.some((link) => typeof link === 'string' && link.includes(UNFETCHABLE)) ? NOT_FETCHED : undefined;
}

const ENDING_DIGITS = 3;
const MAX_COUNTED = 10_000;

/** The plan for a customer's number, with counts of its own for `first`. Other numbers: delivered and read. */
export function magicCustomers(
  behaviour: ((to: string, body: Readonly<Record<string, unknown>>) => MagicCustomer | undefined) | undefined,
): (to: string, body: Readonly<Record<string, unknown>>) => MagicCustomer {
  const byEnding = new Map(MAGIC_CUSTOMERS.map((magic) => [magic.ending, magic]));
  const counts = new RecentCounts(MAX_COUNTED);
  return (to, body) => {
    const magic = behaviour?.(to, body) ?? ofMedia(body) ?? byEnding.get(to.slice(-ENDING_DIGITS)) ?? {};
    const usual = body.type === 'reaction' ? REACTED : body.type === 'audio' ? PLAYED : USUAL;
    if (magic.first === undefined) return { statuses: usual, ...magic };
    const key = JSON.stringify(body);
    const { times, refuse, answer } = magic.first;
    if (counts.add(key) <= times) {
      return {
        statuses: magic.statuses ?? usual,
        ...(refuse === undefined ? {} : { refuse }),
        ...(answer === undefined ? {} : { answer }),
      };
    }
    counts.forget(key);
    return { statuses: magic.statuses ?? usual };
  };
}
