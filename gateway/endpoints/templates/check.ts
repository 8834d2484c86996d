import { planText } from '../../../shared/messages/sms-plan.ts';
import { foldLineBreaks } from '../../../shared/templates/sms/line-breaks.ts';
import { parseContent } from '../../../shared/templates/sms/pattern.ts';
import { DEFAULT_SLOT_LIMITS, SLOT_MEANING } from '../../../shared/templates/sms/slot.ts';
import { sendJson, sendProblem } from '../../http/answer.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../../http/context.ts';
import type { GatewayDeps } from '../../http/deps.ts';
import { invalidRequest } from '../../http/field-problems.ts';
import { required, string } from '../../http/fields/field.ts';
import { readRequest, request, whole } from '../../http/fields/request.ts';
import { contentFaults } from './content-faults.ts';

/** Longer than any content may be, so that a text that is too long is explained and not refused. */
const CHECKED_MAX = 10_000;

export const CHECK_TEMPLATE = request({
  content: required(
    string(
      { description: 'The text as it is so far. Of a longer one, the first 10,000 characters are looked at.' },
      (text) => text.slice(0, CHECKED_MAX),
    ),
  ),
});

/**
 * POST /v2/account/templates/check (extension): what a text would be as a template: its slots, its length, its segments, and what
 * is wrong with it. Changes nothing.
 */
export function createCheckTemplate({ clock, config }: Pick<GatewayDeps, 'clock' | 'config'>): Handler {
  return async (_req, res: Reply) => {
    const { account } = callerOf(res);
    const read = await readRequest(CHECK_TEMPLATE, bodyOf(res), { account, now: clock.now(), config });
    if (read.problems.count > 0) return sendProblem(res, ...invalidRequest(read.problems));
    const { content } = whole(read);
    sendJson(res, checked(account.lineBreaks === 'exact' ? content : foldLineBreaks(content)));
  };
}

/** Segments are counted with every slot as short, and as long, as it may be, filled with characters of the GSM alphabet. */
function checked(content: string): object {
  const problems = contentFaults(content);
  const parsed = parseContent(content, DEFAULT_SLOT_LIMITS);
  const filled = (fill: 'min' | 'max'): string =>
    parsed.kind === 'malformed'
      ? content
      : parsed.pattern.parts
          .map((part) => (part.kind === 'literal' ? part.text : 'x'.repeat(part.slot[fill])))
          .join('');
  const [shortest, longest] = [planText(filled('min')), planText(filled('max'))];
  return {
    characters: content.length,
    slots:
      parsed.kind === 'malformed'
        ? []
        : parsed.pattern.slots.map(({ type, max }) => ({ type, takes: SLOT_MEANING[type], longest: max })),
    encoding: longest.encoding,
    units: { shortest: shortest.units, longest: longest.units },
    segments: { shortest: shortest.segments, longest: longest.segments },
    problems,
  };
}
