/** The texts that express a wish, each in the form of `foldText`. */
export interface Words {
  /** The customer wants no more messages. */
  readonly out: readonly string[];
  /** The customer wants messages again. */
  readonly in: readonly string[];
  /** The customer asks who writes, and how to end it. */
  readonly help: readonly string[];
}

/**
 * The words of each language. Sources: FCC 47 CFR 64.1200(a)(10); CTIA short code rules and the defaults of Twilio
 * (twilio.com/docs/messaging/tutorials/advanced-opt-out), AWS (self-managed opt-outs) and Telnyx for English; Bird
 * (docs.bird.com, opt-out keywords) and Sinch (community article 18980) for the others. Left out: YES, which Twilio takes for
 * START, because it answers many questions. No vendor publishes a list for Hindi.
 */
export const WORD_LISTS = {
  en: {
    out: [
      ...['stop', 'stopall', 'stop all', 'unsubscribe', 'end', 'quit', 'cancel'],
      ...['revoke', 'optout', 'opt out', 'remove'],
    ],
    in: ['start', 'unstop'],
    help: ['help', 'info'],
  },
  fr: { out: ['arret', 'arrete', 'arrett'], in: ['nonarret'], help: ['aide'] },
  de: { out: ['halt'], in: [], help: ['hilfe'] },
  es: { out: ['detener', 'salir'], in: ['volver', 'recibir'], help: ['ayuda'] },
  pt: { out: ['parar', 'cancelar'], in: ['voltar', 'receber'], help: ['ajuda'] },
  it: { out: ['ferma'], in: [], help: ['aiuto'] },
  nl: { out: ['halt'], in: [], help: ['hulp'] },
  ru: { out: ['остановить'], in: [], help: ['помощь'] },
  pl: { out: ['zatrzymaj'], in: [], help: ['pomoc'] },
} as const satisfies Readonly<Record<string, Words>>;

export type Language = keyof typeof WORD_LISTS;

export const LANGUAGES = Object.keys(WORD_LISTS) as readonly Language[]; // the table's own keys

/** For each country code, the languages of its customers besides English. */
const BY_COUNTRY_CODE: Readonly<Record<string, readonly Language[]>> = {
  ...{ '1': ['fr', 'es'], '7': ['ru'], '31': ['nl'], '32': ['fr', 'nl', 'de'], '33': ['fr'], '34': ['es'] },
  ...{ '39': ['it'], '41': ['de', 'fr', 'it'], '43': ['de'], '48': ['pl'], '49': ['de'], '51': ['es'], '52': ['es'] },
  ...{
    '54': ['es'],
    '55': ['pt'],
    '56': ['es'],
    '57': ['es'],
    '58': ['es'],
    '212': ['fr'],
    '216': ['fr'],
    '221': ['fr'],
  },
  ...{ '225': ['fr'], '351': ['pt'], '352': ['fr', 'de'], '375': ['ru'], '502': ['es'], '503': ['es'], '506': ['es'] },
  ...{ '507': ['es'], '591': ['es'], '593': ['es'], '595': ['es'], '598': ['es'] },
};

/** The languages for an account that has set none: English, and those of the customer's country code. */
export function languagesOf(customer: string): readonly Language[] {
  const codes = [1, 2, 3].map((length) => customer.slice(0, length));
  return ['en', ...codes.flatMap((code) => BY_COUNTRY_CODE[code] ?? [])];
}
