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

export function contentOf(values: FormValues): Content {
  const template = values.optional('template_id');
  const reference = values.optional('reference');
  const time = values.optional('schedule_time');
  const params = templateValues(values.exact('params'));
  return {
    sender: values.text('sender'),
    route: values.text('route'),
    ...(template === undefined ? { message: values.exact('message') } : { template_id: template }),
    ...(template !== undefined && params.length > 0 ? { params } : {}),
    ...(reference === undefined ? {} : { reference }),
    ...(time === undefined ? {} : { schedule_time: instantIn(time, values.text('zone')) }),
  };
}
