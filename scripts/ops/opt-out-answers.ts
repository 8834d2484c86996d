import { Approvals } from '../../gateway/endpoints/sms/approvals.ts';
import { ApprovedTemplates } from '../../gateway/endpoints/sms/dlt/approved-templates.ts';
import { WHOLE_ACCOUNT } from '../../shared/carriers/opt-outs/opt-out.ts';
import { optOutOf } from '../../shared/carriers/opt-outs/sign.ts';
import { LANGUAGES } from '../../shared/carriers/opt-outs/word-lists.ts';
import { type AnswerText, type WordSettings, wordsFor } from '../../shared/carriers/opt-outs/word-settings.ts';
import { planText } from '../../shared/messages/sms-plan.ts';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import { DEFAULT_SLOT_LIMITS } from '../../shared/templates/sms/slot.ts';
import { type Context, Failure } from './command.ts';

type Answers = Pick<WordSettings, 'stopAnswer' | 'startAnswer' | 'helpAnswer'>;

/** The account, and the number, that an answer belongs to. */
interface Answering {
  readonly account: AccountDocument;
  readonly scope: string;
}

/** The answers as they are stored. Throws a `Failure` that says why one of them could never be sent. */
export async function checkedAnswers(
  context: Context,
  answering: Answering,
  texts: { readonly [Name in keyof Answers]?: string | null | undefined },
): Promise<Answers> {
  const checked: [string, AnswerText | null][] = [];
  for (const [name, text] of Object.entries(texts)) {
    if (text === undefined) continue;
    checked.push([name, text === null ? null : await checkedAnswer(context, answering, text)]);
  }
  return Object.fromEntries(checked);
}

/** Shows people how much of a message the answer fills. */
export function shownAnswer(answer: AnswerText | null | undefined): string {
  if (answer === undefined) return '-';
  if (answer === null) return 'none';
  const { encoding, segments } = planText(answer.text);
  return `${answer.text} (${segments} ${segments === 1 ? 'segment' : 'segments'}, ${encoding})`;
}

async function checkedAnswer(context: Context, { account, scope }: Answering, text: string): Promise<AnswerText> {
  // With the flag `u` the pattern matches only halves of surrogate pairs.
  if (text.trim() === '' || /\p{Surrogate}/u.test(text)) throw new Failure('The answer must be a readable text.');
  const { maxSegments } = context.config;
  const { segments, encoding } = planText(text);
  if (segments > maxSegments) {
    throw new Failure(`The answer needs ${segments} segments (${encoding}); at most ${maxSegments} are allowed.`);
  }
  const sign = optOutOf(text, wordsFor({ languages: LANGUAGES }, ''));
  if (sign !== undefined && sign.kind !== 'near') {
    throw new Failure(`"${text}" is a word of customers. A machine at the other end would answer it for ever.`);
  }
  return { text, ...(account.dlt === 'on' ? await dltIds(context, account, scope, text) : {}) };
}

/** The DLT ids of an answer. Under DLT, carriers refuse a text without an approved template of its sender. */
async function dltIds(
  { db, clock, config }: Context,
  account: AccountDocument,
  number: string,
  text: string,
): Promise<Omit<AnswerText, 'text'>> {
  const cannot = 'The account is under DLT, so this answer cannot be sent';
  if (number === WHOLE_ACCOUNT) {
    throw new Failure(`${cannot}: templates belong to one sender. Set it for each number, with --number.`);
  }
  const store = await db();
  const templates = new ApprovedTemplates({
    db: store,
    clock,
    limits: DEFAULT_SLOT_LIMITS,
    freshMs: config.keyCacheMs,
  });
  const approvals = new Approvals({ db: store, clock, config, templates });
  const approval = await approvals.approve(account, { sender: number, route: 'transactional' }, text);
  if (approval.kind === 'approved') return approval.ids;
  const [slug, { detail }] = approval.problem;
  throw new Failure(`${cannot} from ${number}: ${detail ?? slug}`);
}
