import { PROVIDER_PRICES_MAX, type ProviderPrice } from '../../../shared/carriers/providers/price-list.ts';
import { isCountry } from '../../../shared/money/accounts/number-check.ts';
import { isBlank, wordOf } from '../../../shared/platform/sheets/cell.ts';
import { parseSheet, type Row, TITLE_ROWS_MAX } from '../../../shared/platform/sheets/parse.ts';

export type ReadPrices =
  | { readonly kind: 'read'; readonly prices: readonly ProviderPrice[] }
  /** The first faults, each a sentence that begins with its line. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** Wide: a line for each market, a column for each category. Long: a line for each price. */
const LIMITS = { rows: PROVIDER_PRICES_MAX + TITLE_ROWS_MAX, columns: 50, cell: 200 } as const;
const FAULTS_MAX = 10;
const CATEGORY = /^[a-z][a-z_]{0,63}$/;
const PREFIX = /^[1-9]\d{0,6}$/;
const PRICE = /^(0|[1-9]\d{0,5})([.,]\d{1,6})?$/;
/** Cells of rate cards where there is no such price. */
const NO_PRICE = /^(|-|–|n\/a|none)$/i;
/** Columns of rate cards that are neither markets nor prices. */
const LEFT_OUT: readonly string[] = ['currency'];
const OTHERS: readonly string[] = ['', '*', 'other', 'others'];

/**
 * Reads a rate card. The first column is `market`: a country (two letters, or its English name), the digits that numbers begin with, or
 * `other`. Then either a column for each category, as Meta's rate cards have them, or the two columns `category` and `price`.
 */
export function readPriceCsv(text: string): ReadPrices {
  const { rows, fault } = parseSheet(text, LIMITS, (cells) => (isHead(cells) ? 1 : 0));
  if (fault !== undefined) return { kind: 'faults', faults: [fault] };
  const at = rows.slice(0, TITLE_ROWS_MAX + 1).findIndex(({ cells }) => isHead(cells));
  const head = rows[at]?.cells.map(categoryOf);
  if (head === undefined) {
    return { kind: 'faults', faults: ['No line begins with the column "market".'] };
  }
  const isLong = head[1] === 'category' && head[2] === 'price';
  const read = new Prices();
  for (const row of rows.slice(at + 1)) {
    const market = read.market(row);
    if (market === undefined) continue;
    if (isLong) read.add(row, market, categoryOf(row.cells[1] ?? ''), row.cells[2] ?? '');
    else for (const [i, category] of head.entries()) if (i > 0) read.add(row, market, category, row.cells[i] ?? '');
  }
  return read.answer();
}

function isHead([first = '', second = '']: readonly string[]): boolean {
  return ['market', 'country'].includes(wordOf(first).text.toLowerCase()) && !isBlank(second);
}

/** `Authentication-International` as `authentication_international`. */
function categoryOf(cell: string): string {
  return wordOf(cell)
    .text.toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

class Prices {
  readonly #prices = new Map<string, ProviderPrice>();
  readonly #faults: string[] = [];

  /** An empty text for all other markets. */
  market({ line, cells: [cell = ''] }: Row): string | undefined {
    const { text } = wordOf(cell);
    if (OTHERS.includes(text.toLowerCase())) return '';
    const market = countries().get(text.toLowerCase()) ?? text.replace(/^\+/, '');
    const isKnown = PREFIX.test(market) || countries().has(market.toLowerCase());
    if (isKnown) return market;
    this.#fault(
      line,
      `"${text}" is no country, and not 1 to 7 digits that numbers begin with. Name each country of a region, or \`other\`.`,
    );
    return undefined;
  }

  add({ line }: Row, market: string, category: string, cell: string): void {
    const price = wordOf(cell).text.replace(/^\p{Sc}/u, '');
    if (LEFT_OUT.includes(category) || NO_PRICE.test(price)) return;
    const key = `${category} ${market}`;
    if (!CATEGORY.test(category)) this.#fault(line, `"${category}" is no category.`);
    else if (!PRICE.test(price)) this.#fault(line, `"${price}" is no price like 0.0068.`);
    else if (this.#prices.has(key)) this.#fault(line, `The price of ${category} is there twice for this market.`);
    else this.#prices.set(key, { ...(market !== '' && { market }), category, price: price.replace(',', '.') });
  }

  answer(): ReadPrices {
    if (this.#prices.size > PROVIDER_PRICES_MAX)
      this.#fault(1, `There are ${this.#prices.size} prices, and ${PROVIDER_PRICES_MAX} at most may be.`);
    if (this.#faults.length > 0) return { kind: 'faults', faults: this.#faults };
    return { kind: 'read', prices: [...this.#prices.values()] };
  }

  #fault(line: number, words: string): void {
    if (this.#faults.length < FAULTS_MAX) this.#faults.push(`Line ${line}: ${words}`);
  }
}

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
let known: ReadonlyMap<string, string> | undefined;

/** Countries by their code and by their English name, both in small letters. */
function countries(): ReadonlyMap<string, string> {
  if (known !== undefined) return known;
  const names = new Intl.DisplayNames('en', { type: 'region' });
  const codes = LETTERS.flatMap((one) => LETTERS.map((other) => one + other)).filter(isCountry);
  known = new Map(codes.flatMap((code) => [code, names.of(code) ?? code].map((name) => [name.toLowerCase(), code])));
  return known;
}
