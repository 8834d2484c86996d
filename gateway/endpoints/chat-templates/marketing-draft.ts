import type { FieldProblems } from '../../http/field-problems.ts';
import { type Given, LIMITS } from './draft-fields.ts';

/** The provider's rules for carousels, limited-time offers and products (WhatsApp, "Marketing templates"). */
export function noteMarketing(given: Given, problems: FieldProblems): void {
  const { category, header, buttons, offer, cards } = given;
  const shop = buttons.find(({ type }) => isShop(type));
  const isMarketing = offer !== undefined || cards !== undefined || shop !== undefined || header?.format === 'product';
  if (isMarketing && category !== 'marketing') {
    problems.add(
      'category',
      'conflict',
      'Carousels, limited-time offers and templates with products are for marketing.',
    );
  }
  if (offer !== undefined) noteOffer(given, problems);
  if (cards !== undefined) noteCards(cards, given, problems);
  if (shop !== undefined && buttons.length > 1) {
    problems.add('buttons', 'conflict', `A ${shop.type} button stands alone.`);
  }
  if (shop?.type === 'mpm' && header?.format !== 'text') {
    problems.add('header', 'missing_field', 'A template with products to choose from needs a header of text.');
  }
  if ((header?.format === 'product') !== (shop?.type === 'spm')) {
    problems.add('buttons', 'conflict', 'A header of product and an spm button belong together.');
  }
}

function isShop(type: string): boolean {
  return type === 'catalog' || type === 'mpm' || type === 'spm';
}

function noteOffer({ header, body = '', footer, buttons, cards, offer }: Given, problems: FieldProblems): void {
  for (const [name, value] of Object.entries({ footer, cards })) {
    if (value !== undefined) problems.add(name, 'conflict', 'A limited-time offer has none.');
  }
  if (header !== undefined && header.format !== 'image' && header.format !== 'video') {
    problems.add('header.format', 'conflict', 'The header of a limited-time offer is an image or a video.');
  }
  if ([...body].length > LIMITS.offerBody) {
    problems.add('body', 'too_long', `Of a limited-time offer it may have at most ${LIMITS.offerBody} characters.`);
  }
  const types = buttons.map(({ type }) => type).join();
  if (types !== 'copy_code,url' && (offer?.expires !== false || types !== 'url')) {
    problems.add(
      'buttons',
      'conflict',
      'They must be copy_code, then url; of an offer that does not expire, or url alone.',
    );
  }
}

function noteCards(cards: NonNullable<Given['cards']>, given: Given, problems: FieldProblems): void {
  const { header, footer, buttons } = given;
  for (const [name, value] of Object.entries({ header, footer, buttons: buttons[0] })) {
    if (value !== undefined) problems.add(name, 'conflict', 'A carousel has it in its cards.');
  }
  const kindOf = ({ header: { format }, body, buttons: own }: (typeof cards)[number]): string =>
    [format, body !== undefined, ...own.map(({ type }) => type)].join();
  for (const [i, card] of cards.entries()) {
    const { format } = card.header;
    if (format !== 'image' && format !== 'video' && format !== 'product') {
      problems.add(`cards[${i}].header.format`, 'conflict', 'The header of a card is an image, a video or a product.');
    }
    if (
      format === 'product' &&
      (card.body !== undefined || !['spm', 'url'].includes(card.buttons.map(({ type }) => type).join()))
    ) {
      problems.add(`cards[${i}]`, 'conflict', 'A card with a product has no body, and one button: spm or url.');
    }
    if (
      card.buttons.some(
        ({ type }) => ['copy_code', 'catalog', 'mpm'].includes(type) || (type === 'spm' && format !== 'product'),
      )
    ) {
      problems.add(
        `cards[${i}].buttons`,
        'conflict',
        'They are quick_reply, url or phone_number; of a product spm or url.',
      );
    }
    if (cards[0] !== undefined && kindOf(card) !== kindOf(cards[0])) {
      problems.add(
        `cards[${i}]`,
        'conflict',
        'All cards are alike: the same header, a body or none, the same buttons.',
      );
    }
  }
}
