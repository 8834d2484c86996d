import { type Encoding, planText } from '../../shared/messages/sms-plan.ts';
import { type Pattern, renderTemplate } from '../../shared/templates/sms/pattern.ts';

export interface RenderJob {
  readonly pattern: Pattern;
  readonly params: readonly (readonly string[])[];
}

export interface RenderedText {
  readonly text: string;
  readonly encoding: Encoding;
  readonly segments: number;
}

/** Runs in a thread (render-threads.ts). The gateway checked the params against the same pattern: a misfit is a bug. */
export function renderSlice({ pattern, params }: RenderJob): RenderedText[] {
  return params.map((values, index) => {
    const rendered = renderTemplate(pattern, values);
    if (rendered.kind === 'invalid') throw new Error(`params ${index} of the slice do not fit the template`);
    const { encoding, segments } = planText(rendered.text);
    return { text: rendered.text, encoding, segments };
  });
}
