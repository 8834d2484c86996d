import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import { BASICS } from '../../shared/carriers/settings/basics.ts';
import { type Settings, withDefaults } from '../../shared/carriers/settings/setting.ts';
import { GROUP_NAMES, GROUPS } from '../../shared/carriers/settings/table.ts';
import { optionName } from './read-words.ts';

/** A carrier as JSON for programs. The password is left out. Of certificates and keys it has only what may be shown. */
export function carrierView({ _id, password: _, trust, ...rest }: CarrierDocument): object {
  return { carrier: _id, ...rest, ...(trust === undefined ? {} : { trust: shownGroup(GROUPS.trust, trust) }) };
}

/** A row for each setting: its option, its value, a mark if somebody has set it, and its meaning. */
export function settingRows(carrier: CarrierDocument): string[][] {
  return [
    ...rows(BASICS, carrier),
    ['--dlt', dltWords(carrier.dlt), carrier.dlt === undefined || carrier.dlt === 'off' ? '' : '*', DLT],
    ...GROUP_NAMES.flatMap((group) => rows(GROUPS[group], { ...carrier[group] })),
  ];
}

const DLT = 'tags of the TLVs with the ids of DLT, or off';

function rows(group: Settings, stored: object): string[][] {
  const values: Readonly<Record<string, unknown>> = withDefaults(group, stored);
  return Object.entries(group).map(([name, { show, standard, about }]) => {
    const shown = show(values[name]);
    return [`--${optionName(name)}`, shown, shown === show(standard) ? '' : '*', about];
  });
}

function shownGroup(group: Settings, stored: object): object {
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, group[name]?.show(value) ?? value]));
}

function dltWords(dlt: CarrierDocument['dlt'] = 'off'): string {
  if (dlt === 'off') return dlt;
  const tags = [dlt.entityTag, dlt.templateTag, ...(dlt.hashTag === undefined ? [] : [dlt.hashTag])];
  const chain = dlt.chain === undefined ? '' : ` after ${dlt.chain.join(',')}`;
  return `${tags.map((tag) => `0x${tag.toString(16)}`).join(',')} (${dlt.form})${chain}`;
}
