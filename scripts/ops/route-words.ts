import type { WeightedCarrier } from '../../shared/carriers/routing/route.ts';

/** How the parts of a route are written on the command line. */

/**
 * `airtel:70,jio:30;backup`: `;` separates groups, `,` carriers, and `:` comes before a weight (default 1). `none` means no
 * group.
 */
export const groups = {
  value: 'GROUPS',
  form: 'carriers like airtel:70,jio:30;backup (groups with ;, weights behind :), or none',
  parse: (text: string): readonly (readonly WeightedCarrier[])[] | undefined => {
    if (text === 'none') return [];
    if (!/^[a-z0-9-]+(:\d+)?([,;][a-z0-9-]+(:\d+)?)*$/.test(text)) return undefined;
    return text.split(';').map((group) =>
      group.split(',').map((one) => {
        const [carrier = '', weight = '1'] = one.split(':');
        return { carrier, weight: Number(weight) };
      }),
    );
  },
};

/** Written as `airtel=0.10 INR,jio=0.09 INR`, each carrier once. */
export const costs = {
  value: 'COSTS',
  form: 'what each carrier costs, like airtel=0.10 INR,jio=0.09 INR (each once), or none',
  parse: (text: string): Readonly<Record<string, string>> | 'none' | undefined => {
    if (text === 'none') return text;
    const pairs = text.split(',').map((pair) => /^([a-z0-9-]+)=([0-9.]{1,12}( [A-Z]{3})?)$/.exec(pair.trim()));
    const entries = pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? '', pair[2] ?? ''] as const]));
    return new Map(entries).size === pairs.length ? Object.fromEntries(entries) : undefined;
  },
};

/** A list of words separated by commas. `any` removes the condition. */
export function several<T extends string>(value: string, form: string, pattern: RegExp) {
  return {
    value,
    form: `${form} (with commas), or any`,
    parse: (text: string): readonly T[] | 'any' | undefined => {
      if (text === 'any') return 'any';
      const words = text.split(',').map((word) => word.trim());
      return words.every((word) => pattern.test(word)) ? [...new Set(words as T[])] : undefined; // `pattern` allows only T
    },
  };
}
