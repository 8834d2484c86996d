import type { Route } from '../messages/document/message.ts';
import { type PromotionalHours, promotionalDeferral } from '../messages/document/routing.ts';
import type { CarrierDlt } from './carrier.ts';

/**
 * Why India's operators refuse messages (DLT scrubbing). From this table come the reasons of receipts, by the code in
 * `err:` (workers/smpp/dialect), the explanations of refusals, and the predictions of a dry run. Sources: the
 * operators' lists as published by Exotel (support article 3000120944), smsgatewayhub (article 3000129776), adwings and
 * authkey.io (683, 687). Lists from before December 2024 give 613 to 616 other meanings; codes of four digits differ by
 * operator.
 */
export interface ScrubRule {
  /** As in `err:` of a receipt. Empty: the platform refuses the template itself. */
  readonly codes: readonly string[];
  /** `error_reason` of a message that was refused for it. */
  readonly reason: string;
  /** The explanation when nothing more is known. */
  readonly cause: string;
  readonly advice: string;
  /** Finds the fault of a message before it leaves, or the reason of its refusal. */
  predict?(facts: ScrubFacts): Predicted | undefined;
}

export interface Predicted {
  /** `possible`: only operators know, or they do not agree. */
  readonly certainty: 'sure' | 'possible';
  readonly cause: string;
  readonly advice?: string;
  /** For operators of the gateway, who may read carriers' names and change settings. */
  readonly forOperator?: { readonly cause: string; readonly advice: string };
}

/** Known facts about a message. Absent facts are not checked. */
export interface ScrubFacts {
  readonly sender?: string;
  /** A sender of the account that differs from `sender` in capitals only. */
  readonly otherCase?: string;
  readonly route?: Route;
  /** Null: the message would have none. */
  readonly entityId?: string | null;
  readonly template?: {
    readonly dltId: string;
    readonly category?: string;
    readonly status?: 'approved' | 'submitted' | 'rejected';
    readonly reason?: string;
  };
  /** When it leaves, and when promotional messages may. */
  readonly leaves?: { readonly at: Date; readonly hours: PromotionalHours };
  /** The carriers that may take it, each with its chain of telemarketers. */
  readonly carriers?: readonly ScrubCarrier[];
  /** Links and numbers that are not registered, one sentence each. */
  readonly missing?: readonly string[];
}

export interface ScrubCarrier {
  readonly name: string;
  readonly dlt: CarrierDlt | 'off';
  readonly chain?: readonly string[];
}

const PROVIDER = 'Tell your service provider.';
const CHAIN_ADVICE =
  'Approve the chain (PE-TM binding) on the DLT platform, down to the telemarketer that delivers. Your service provider knows the ids.';
const AS_REGISTERED = 'Send the text exactly as it is registered, with values in its variables only.';
const ADVERTISING: readonly string[] = ['promotional', 'service_explicit'];

/** The DLT ids travel as TLVs. */
export const TLV_RULE = {
  codes: ['195'],
  reason: 'DLT: a required parameter is missing',
  cause: 'DLT scrubbing failed: a required parameter is missing.',
  advice: 'Check that the account has its PE id and the text a registered template, then send it again.',
  predict({ template, carriers = [] }: ScrubFacts): Predicted | undefined {
    const without = carriers.filter(({ dlt }) => dlt === 'off');
    if (template === undefined || without.length === 0) return undefined;
    return {
      certainty: without.length === carriers.length ? 'sure' : 'possible',
      cause: 'A carrier of the route is not given the DLT ids of messages.',
      advice: PROVIDER,
      forOperator: {
        cause: `${namesOf(without)} gets no DLT ids.`,
        advice: 'Set how it takes them: its setting `dlt` is off. Then let the account send again.',
      },
    };
  },
} as const satisfies ScrubRule;

/** Links, apps and callback numbers. Some operators answer 700 or 701 for links. */
export const CTA_RULE = {
  codes: ['642', '700', '701'],
  reason: 'DLT: a link or number in the text is not registered',
  cause: 'A link or a phone number in the text is not registered on the DLT platform.',
  advice: 'Register it on the DLT platform and here (`POST /v2/account/ctas`), or remove it from the text.',
  predict({ missing: [first, ...more] = [] }: ScrubFacts): Predicted | undefined {
    if (first === undefined) return undefined;
    return { certainty: 'sure', cause: [first, ...more].join(' ') };
  },
} as const satisfies ScrubRule;

export const SCRUB_RULES: readonly ScrubRule[] = [
  TLV_RULE,
  {
    codes: ['600', '601', '602', '603'],
    reason: 'DLT: entity not registered or not active',
    cause: 'Your business (PE) is not registered or not active on the DLT platform.',
    advice: 'Renew the registration of your business on the DLT platform. Give your service provider the PE id.',
  },
  {
    codes: ['604'],
    reason: 'DLT: entity not registered or not active',
    cause: 'The PE id of your business is missing, or has a wrong form.',
    advice: 'Give your service provider the PE id as the DLT platform shows it.',
    predict: ({ entityId }) => {
      if (entityId === undefined || (entityId !== null && /^\d{10,20}$/.test(entityId))) return undefined;
      return { certainty: 'sure', cause: 'The message has no PE id that the DLT platform could know.' };
    },
  },
  {
    codes: ['605'],
    reason: 'DLT: entity not registered or not active',
    cause: 'Your business (PE) may not send by the telemarketer of the route.',
    advice: CHAIN_ADVICE,
  },
  {
    codes: ['610', '611', '612', '677', '678', '680'],
    reason: 'DLT: telemarketer not registered or not active',
    cause: 'The telemarketer of the route is not registered or not active on the DLT platform.',
    advice: PROVIDER,
  },
  {
    codes: ['613'],
    reason: 'DLT: telemarketer not registered or not active',
    cause: 'The telemarketer of the route may not send for your business.',
    advice: CHAIN_ADVICE,
  },
  {
    codes: ['614'],
    reason: 'DLT: telemarketer chain (PE-TM) not registered',
    cause: 'The hash of the chain from your business to the operator was not received.',
    advice: PROVIDER,
    predict: ({ entityId, carriers = [] }) => {
      // A carrier without the tag makes the hash itself: it is the last one before the operator.
      const without = carriers.filter(({ dlt, chain }) => dlt !== 'off' && dlt.hashTag !== undefined && !chain?.length);
      if (without.length === 0 || entityId === undefined) return undefined;
      return {
        certainty: without.length === carriers.length ? 'sure' : 'possible',
        cause: 'No chain of telemarketers is set for a carrier of the route, so that it gets no hash of it.',
        forOperator: {
          cause: `No chain of telemarketers is set at ${namesOf(without)}, so that it gets no hash (${tagsOf(without)}).`,
          advice: 'Set it: `chain set` for the account, or `carrier update --dlt-chain` for all.',
        },
      };
    },
  },
  {
    codes: ['615', '616', '617', '618'],
    reason: 'DLT: telemarketer chain (PE-TM) not registered',
    cause: 'The chain (PE-TM binding) from your business to the operator is not registered, not active or suspended.',
    advice: CHAIN_ADVICE,
    predict: ({ entityId, carriers = [] }) => {
      const wrong = carriers.filter(({ chain = [] }) => {
        const isTwice = new Set(chain).size < chain.length;
        return isTwice || (typeof entityId === 'string' && chain.includes(entityId));
      });
      if (wrong.length === 0) return undefined;
      return {
        certainty: 'sure',
        cause: 'The chain that a carrier of the route is given names a business twice.',
        advice: PROVIDER,
        forOperator: {
          cause: `The chain at ${namesOf(wrong)} names an id twice: the PE id is put before it by itself, and each telemarketer stands once.`,
          advice: 'Correct it with `chain set`, from the first telemarketer to the one that delivers.',
        },
      };
    },
  },
  {
    codes: ['620'],
    reason: 'DLT: header not registered or not active',
    cause: 'The header (sender) is not registered on the DLT platform as it was sent; capitals count.',
    advice: 'Register or reactivate the header on the DLT platform, and let your service provider enter it.',
    predict: ({ sender, otherCase }) => {
      if (sender === undefined) return undefined;
      if (otherCase !== undefined) {
        return {
          certainty: 'sure',
          cause: `The header "${sender}" is another one than "${otherCase}": capitals count.`,
          advice: `Send it as "${otherCase}".`,
        };
      }
      const [, bare] = /^[A-Z]{2}-([A-Za-z0-9]{3,9}?)(?:-[PSTG])?$/.exec(sender) ?? [];
      if (bare !== undefined) {
        return {
          certainty: 'sure',
          cause: `The header is "${bare}": operators add what stands before and behind it.`,
          advice: `Send it as "${bare}".`,
        };
      }
      const isFit = /^[A-Za-z]{3,6}$|^\d{6}$/.test(sender);
      if (isFit) return undefined;
      const cause = `"${sender}" has not the form of a header: 3 to 6 letters, or 6 digits for promotional messages.`;
      return { certainty: 'possible', cause };
    },
  },
  {
    codes: ['621', '622', '624', '625', '626'],
    reason: 'DLT: header not registered or not active',
    cause: 'The header (sender) is not active on the DLT platform: blacklisted, or suspended.',
    advice: 'Register or reactivate the header on the DLT platform, and let your service provider enter it.',
  },
  {
    codes: ['623'],
    reason: 'DLT: header not registered or not active',
    cause: 'The header (sender) is registered to another business than the PE id of the message.',
    advice: 'Compare the PE id of the header on the DLT platform with that of the account and of the template.',
  },
  {
    codes: ['683', '687'],
    reason: 'DLT: the category of header, template and message do not agree',
    cause: 'The header, the template and the message are not of the same category.',
    advice:
      'Send promotional templates on the promotional route with a promotional header, all others on the transactional one.',
    predict: ({ sender = '', route, template }) => {
      if (route === undefined) return undefined;
      const isAdvertising = template?.category === undefined ? undefined : ADVERTISING.includes(template.category);
      if (isAdvertising !== undefined && isAdvertising !== (route === 'promotional')) {
        return {
          certainty: 'sure',
          cause: `The template is of the category ${template?.category}, and the message goes as ${route}.`,
        };
      }
      if (route === 'transactional' && /^\d+$/.test(sender)) {
        return {
          certainty: 'sure',
          cause: `The header ${sender} has digits alone: such are for promotional messages.`,
        };
      }
      if (route === 'promotional' && /^[A-Za-z]+$/.test(sender)) {
        const cause = `"${sender}" has letters alone: headers for promotional messages have 6 digits, unless the platform has registered this one for both.`;
        return { certainty: 'possible', cause };
      }
      return undefined;
    },
  },
  {
    codes: ['630', '636', '637'],
    reason: 'DLT: template not registered or not matched',
    cause: 'The template is not registered on the DLT platform.',
    advice: 'Compare the id of the template with the DLT platform, and wait until its registration is approved.',
    predict: ({ template }) =>
      template?.status === 'submitted'
        ? { certainty: 'possible', cause: `The template ${template.dltId} is not approved yet.` }
        : undefined,
  },
  {
    codes: ['631', '632'],
    reason: 'DLT: template not registered or not matched',
    cause: 'The template is inactive or blacklisted on the DLT platform.',
    advice: 'Look for the reason on the DLT platform, then reactivate it or send with another one.',
    predict: ({ template }) => {
      if (template?.status !== 'rejected') return undefined;
      const why = template.reason === undefined ? '' : ` (${template.reason})`;
      return { certainty: 'sure', cause: `The template ${template.dltId} is rejected${why}.` };
    },
  },
  {
    codes: ['633'],
    reason: 'DLT: the text does not match the template',
    cause: 'The text does not match the template as it is registered on the DLT platform.',
    advice: AS_REGISTERED,
  },
  {
    codes: ['666'],
    reason: 'DLT: the text differs from what was registered',
    cause: 'The text differs from what was registered.',
    advice: AS_REGISTERED,
  },
  {
    codes: ['634'],
    reason: 'DLT: template not registered or not matched',
    cause: 'The template is not registered for this header (sender).',
    advice: 'Send with a header of the template, or add this one to it on the DLT platform.',
  },
  {
    codes: ['635'],
    reason: 'DLT: template not registered or not matched',
    cause: 'A value is longer than its variable in the template may be.',
    advice: 'Shorten the value: most operators take 30 characters.',
  },
  CTA_RULE,
  {
    codes: ['650', '652'],
    reason: "DLT: blocked by the recipient's preferences",
    cause: 'The recipient does not want messages of this kind (DND).',
    advice: 'Send only what the recipient agreed to, on the route for it.',
    predict: ({ route, template }) => {
      if (route !== 'promotional' || template?.category === 'service_explicit') return undefined;
      return {
        certainty: 'possible',
        cause: 'Operators block promotional messages to recipients who do not want them (DND).',
        advice: 'Send it to those who want it: operators alone know the preferences, which change every day.',
      };
    },
  },
  {
    codes: ['651'],
    reason: 'DLT: promotional messages are not allowed at this hour',
    cause: 'Promotional messages are not allowed at this hour.',
    advice: 'Send promotional messages between 10:00 and 21:00 Indian time.',
    predict: ({ route, template, leaves }) => {
      // On the promotional route the message waits for the allowed hours by itself.
      if (leaves === undefined || route === 'promotional' || template?.category !== 'promotional') return undefined;
      if (promotionalDeferral(leaves.hours, leaves.at) === undefined) return undefined;
      return {
        certainty: 'sure',
        cause: 'It would leave outside the hours in which promotional messages are allowed.',
      };
    },
  },
  {
    codes: ['660'],
    reason: 'DLT: no consent of the recipient',
    cause: 'The recipient did not consent to messages of your business.',
    advice: 'Get the consent on the DLT platform first.',
    predict: ({ template }) =>
      template?.category === 'service_explicit'
        ? { certainty: 'possible', cause: 'Operators deliver it to recipients alone whose consent is registered.' }
        : undefined,
  },
  {
    codes: ['670'],
    reason: 'DLT: scrubbing failed',
    cause: 'DLT scrubbing failed: the platform had a fault, or a required parameter is missing.',
    advice: 'Check that the account has its PE id and the text a registered template, then send it again.',
  },
];

const BY_CODE: ReadonlyMap<string, ScrubRule> = new Map(
  SCRUB_RULES.flatMap((rule) => rule.codes.map((code) => [code, rule] as const)),
);

export function scrubRule(code: string): ScrubRule | undefined {
  return BY_CODE.get(code);
}

export interface PredictedRefusal extends Required<Pick<Predicted, 'certainty' | 'cause' | 'advice'>> {
  readonly code: string;
}

/** Sure ones first. */
export function predictRefusals(facts: ScrubFacts, forOperator = false): readonly PredictedRefusal[] {
  const all = SCRUB_RULES.flatMap((rule) => {
    const predicted = rule.predict?.(facts);
    const [code] = rule.codes;
    return predicted === undefined || code === undefined ? [] : [{ code, ...told(rule, predicted, forOperator) }];
  });
  return all.sort((a, b) => Number(a.certainty === 'possible') - Number(b.certainty === 'possible'));
}

/** From the facts if they are sure, else the rule's text. Undefined for an unknown code. */
export function explainScrub(code: string, facts: ScrubFacts, forOperator: boolean) {
  const rule = scrubRule(code);
  const predicted = rule?.predict?.(facts);
  if (rule === undefined || predicted?.certainty !== 'sure') return rule;
  return told(rule, predicted, forOperator);
}

function told(rule: ScrubRule, { certainty, forOperator, ...predicted }: Predicted, toOperator: boolean) {
  const { cause, advice = rule.advice } = (toOperator ? forOperator : undefined) ?? predicted;
  return { certainty, cause, advice };
}

function namesOf(carriers: readonly ScrubCarrier[]): string {
  return carriers.map(({ name }) => name).join(', ');
}

function tagsOf(carriers: readonly ScrubCarrier[]): string {
  const tags = carriers.flatMap(({ dlt }) => (dlt === 'off' || dlt.hashTag === undefined ? [] : dlt.hashTag));
  return [...new Set(tags)].map((tag) => `TLV 0x${tag.toString(16)}`).join(', ');
}
