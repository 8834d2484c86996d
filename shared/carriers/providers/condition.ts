import type { ProviderDocument, ProviderDuty, ProviderTrouble } from './provider.ts';

/** `stopped`: the provider does not allow token, number or account. `failing`: it is active, but its duties fail. */
export type ProviderCondition = ProviderDocument['status'] | 'stopped' | 'failing';

export function providerCondition(provider: ProviderDocument): ProviderCondition {
  if (provider.stoppedReason !== undefined) return 'stopped';
  const fails = troublesOf(provider).length > 0 || provider.trial !== undefined;
  return provider.status === 'active' && fails ? 'failing' : provider.status;
}

/** Why it is stopped, or was until it is tried again. */
export function stopOf({ stoppedReason, trial }: ProviderDocument): string | undefined {
  return stoppedReason ?? trial?.reason;
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
