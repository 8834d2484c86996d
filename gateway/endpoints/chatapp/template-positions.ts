import type { TemplateComponents } from '../../../shared/templates/chat/chat-template.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import { describeParam, paramsOf, type TemplateParam } from './template-params.ts';

/** The most positions that an answer lists. */
const LISTED_MAX = 20;

export const PARAMS_MAX = 250;

/**
 * What each entry of `params` fills. `mediaGiven`: `header.url` has the file's address, so `params` has no entry for it. Pure.
 */
export function wantedParams(components: TemplateComponents, mediaGiven: boolean): readonly TemplateParam[] {
  const all = paramsOf({ components });
  return mediaGiven ? all.filter(({ fills }) => fills !== 'media') : all;
}

/**
 * Whether there are as many `params` as the template takes. All entries of the list count, bad ones too, because a wrong count is
 * a problem of its own. If `params` is not a list, or far too long, that has been reported already.
 */
export function checkCount(
  params: unknown,
  wanted: readonly TemplateParam[],
  components: TemplateComponents,
  problems: FieldProblems,
): boolean {
  const given = params === undefined ? [] : params;
  if (!Array.isArray(given) || given.length > PARAMS_MAX) return false;
  if (given.length === wanted.length) return true;
  const takes = wanted.length === 0 ? 'takes no params' : `takes ${wanted.length}, in order`;
  const detail = `The template ${takes}; ${given.length} are given.${positions(wanted, components)}`;
  problems.add('params', 'wrong_count', detail);
  return false;
}

function positions(wanted: readonly TemplateParam[], components: TemplateComponents): string {
  if (wanted.length === 0) return '';
  const listed = wanted.slice(0, LISTED_MAX).map((param, i) => `params[${i}]: ${describeParam(param, components)}`);
  const more = wanted.length > LISTED_MAX ? `; and ${wanted.length - LISTED_MAX} more` : '';
  return ` ${listed.join('; ')}${more}.`;
}
