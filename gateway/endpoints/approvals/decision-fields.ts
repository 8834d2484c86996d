import { isSenderId } from '../../../shared/platform/runtime/ids.ts';
import { choice, Fault, type Field, optional, required, string } from '../../http/fields/field.ts';
import { line, matching } from '../../http/fields/operator-fields.ts';
import { type Rule, request } from '../../http/fields/request.ts';

const DECISION = choice(['approved', 'rejected'], 'A later decision replaces an earlier one.');
const REASON = line('Why. The account reads it. Required with `rejected`.', 200);

type DecisionFields = {
  readonly decision: Field<'approved' | 'rejected'>;
  readonly reason: Field<string | undefined>;
};

const reasonToReject: Rule<DecisionFields> = ({ decision }, has, problems) => {
  if (decision === 'rejected' && !has('reason')) {
    problems.add('reason', 'missing_field', 'Say why, so that the account knows what to change.');
  }
};

export const DECIDE_SENDER = request(
  {
    decision: required(DECISION),
    reason: optional(REASON),
    sender_id: optional(
      string(
        {
          description:
            'The `sender_id` that was read. One that the account has asked for since is not decided then. Needed to approve what the account asked for itself.',
        },
        (text) => (isSenderId(text) ? text : new Fault('invalid_value', 'It must be a sender_id as GET shows it.')),
      ),
    ),
  },
  [],
  [reasonToReject],
);

export const DECIDE_TEMPLATE = request(
  {
    decision: required(DECISION),
    reason: optional(REASON),
    dlt_id: optional(
      matching(
        'The id that the operators gave to a requested template. A request without one needs it to be approved.',
        /^[0-9]{10,20}$/,
        '10 to 20 digits',
      ),
    ),
    version: optional(
      matching(
        '`version` of the text that was read. Another text is not approved then. Needed to approve what the account asked for itself.',
        /^[0-9a-f]{12}$/,
        'a version as GET shows it',
      ),
    ),
  },
  [],
  [reasonToReject],
);
