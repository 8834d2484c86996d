import type { ProviderDocument } from '../../../shared/carriers/providers/provider.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { TemplateDraft } from '../../../shared/templates/chat/template-request.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import type { UrlCheck } from '../../http/fields/public-url.ts';

const FIELD = 'header.example_url';

/**
 * Checks the sample file of a header: that the provider can take one at all, and that we may fetch it, by the rules of webhooks'
 * addresses, because we connect to it ourselves.
 */
export async function checkSample(
  account: AccountId,
  { components, examples: { headerUrl } }: TemplateDraft,
  provider: Pick<ProviderDocument, 'appId'> | undefined,
  urlCheck: UrlCheck,
  problems: FieldProblems,
): Promise<void> {
  if (headerUrl === undefined) return;
  if (provider !== undefined && provider.appId === undefined) {
    const format = components.header?.format;
    problems.add(
      'header.format',
      'invalid_value',
      `A template with a header of ${format} needs the id of the provider’s app, which is not set. Ask your service provider to set it (\`provider set --app-id\`), or ask for the template in the provider’s console; when it is approved, it is listed here and can be sent.`,
    );
    return;
  }
  if (urlCheck.form(account, headerUrl, FIELD, problems)) await urlCheck.host(account, headerUrl, FIELD, problems);
}
