import type { FormValues } from '../../parts/form-values.ts';
import { templateValues } from '../../parts/template-values.ts';
import { instantIn } from './zone.ts';

/** What messages to one and to many have in common, as the API wants it. */
export interface Content {
  readonly to?: string | readonly string[];
  /** To many by a template, each with values of its own. */
  readonly recipients?: readonly { readonly to: string }[];
  /** Of SMS. */
  readonly sender?: string;
  readonly route?: string;
  readonly message?: string;
  readonly template_id?: string;
  readonly params?: readonly string[];
  readonly reference?: string;
  /** With a time it is a schedule. */
  readonly schedule_time?: string;
}

/** Who sends it, and what: of the fields below `at`. */
export function smsOf(
  values: FormValues,
  at = '',
): Pick<Content, 'sender' | 'route' | 'message' | 'template_id' | 'params'> {
  const template = values.optional(`${at}template_id`);
  const params = templateValues(values.exact(`${at}params`));
  return {
    sender: values.text(`${at}sender`),
    route: values.text(`${at}route`),
    ...(template === undefined ? { message: values.exact(`${at}message`) } : { template_id: template }),
    ...(template !== undefined && params.length > 0 ? { params } : {}),
  };
}

export function contentOf(values: FormValues): Content {
  const reference = values.optional('reference');
  const time = values.optional('schedule_time');
  return {
    ...smsOf(values),
    ...(reference === undefined ? {} : { reference }),
    ...(time === undefined ? {} : { schedule_time: instantIn(time, values.text('zone')) }),
  };
}
