import type { ProviderDocument, ProviderDuty, ProviderTrouble } from './provider.ts';

/** `stopped`: the provider does not allow token, number or account. `failing`: it is active, but its duties fail. */
export type ProviderCondition = ProviderDocument['status'] | 'stopped' | 'failing';

export function providerCondition(provider: ProviderDocument): ProviderCondition {
  if (provider.stoppedReason !== undefined) return 'stopped';
  return provider.status === 'active' && troublesOf(provider).length > 0 ? 'failing' : provider.status;
}

/** What fails just now, sends first. */
export function troublesOf({
  troubles = {},
}: Pick<ProviderDocument, 'troubles'>): readonly (ProviderTrouble & { readonly duty: ProviderDuty })[] {
  return (['sends', 'statuses', 'templates', 'requests'] as const).flatMap((duty) => {
    const trouble = troubles[duty];
    return trouble === undefined ? [] : [{ duty, ...trouble }];
  });
}

const DUTIES: Readonly<Record<ProviderDuty, string>> = {
  templates: 'copying the templates',
  requests: 'asking for templates',
  sends: 'sending',
  statuses: 'after sending',
};

/** `sending: the token is not valid`. */
export function troubleInWords({ duty, reason }: { readonly duty: ProviderDuty; readonly reason: string }): string {
  return `${DUTIES[duty]}: ${reason}`;
}
