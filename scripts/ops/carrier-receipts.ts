import type { CarrierDocument } from '../../shared/carriers/carrier.ts';
import { listCarriers } from '../../shared/carriers/carrier-store.ts';
import { PROFILES } from '../../shared/carriers/receipt-profiles.ts';
import { RECEIPTS } from '../../shared/carriers/settings/receipts.ts';
import { withDefaults } from '../../shared/carriers/settings/setting.ts';
import { candidateKeys } from '../../workers/smpp/dialect/message-ids.ts';
import { ReceiptDialect } from '../../workers/smpp/dialect/receipt-dialect.ts';
import { incomingReceipt, type ParsedReceipt, parseReceipt } from '../../workers/smpp/receipts/receipt.ts';
import { sheet, table } from './answer-text.ts';
import { type Command, defineCommand, Failure } from './command.ts';
import { flag, integer, optional, required, words } from './parameters.ts';

const carrier = required(words('CARRIER', '1 to 32 of a-z, 0-9 and -', /^[a-z0-9-]{1,32}$/), 'its short name');
const text = required(words('TEXT', 'at most 2,000 characters', /^[\s\S]{0,2000}$/), 'the text of the deliver_sm');
const hexCode = words('HEX', 'three octets in hexadecimal, like 030001', /^[0-9a-f]{6}$/i);
const id = words('ID', '1 to 65 ASCII characters', /^[\x21-\x7e]{1,65}$/);

export const RECEIPT_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'carrier',
    verb: 'receipt-profiles',
    about: 'Lists what `--receipt-profile` can be, with the pages that say so.',
    args: {},
    options: {},
    notes:
      'All profiles know the words of all vendors here. Numbers, error codes and the rules are those of the profile alone.',
    async run() {
      const rows = Object.entries(PROFILES).map(([name, { words = {}, errors = {}, otherWord, parts, about }]) => [
        name,
        String(Object.keys(words).length),
        String(Object.keys(errors).length),
        otherWord ?? 'ignore',
        parts ?? 'perPart',
        about,
      ]);
      const json = Object.entries(PROFILES).map(([profile, known]) => ({
        ...{ profile, otherWord: 'ignore', parts: 'perPart' },
        ...known,
      }));
      return { text: table(['PROFILE', 'WORDS', 'CODES', 'OTHER WORD', 'PARTS', 'ABOUT'], rows, ''), json };
    },
  }),
  defineCommand({
    noun: 'carrier',
    verb: 'read-receipt',
    about: 'Shows how a receipt of a carrier would be read. Nothing is stored.',
    args: { carrier, text },
    options: {
      receiptedMessageId: optional(id, 'its TLV receipted_message_id'),
      messageState: optional(integer('N', 0, 255), 'its TLV message_state'),
      networkErrorCode: optional(hexCode, 'its TLV network_error_code'),
      intermediate: flag('it came with esm_class 0x20, as an intermediate notification'),
    },
    notes: "For example: carrier read-receipt acme 'id:4f1c stat:DND err:051'",
    async run(
      { carrier: name, text: said, receiptedMessageId, messageState, networkErrorCode, intermediate },
      context,
    ) {
      const found = (await listCarriers(await context.db())).find(({ _id }) => _id === name);
      if (found === undefined) throw new Failure(`There is no carrier "${name}"; \`carrier list\` shows them.`);
      const deliver = {
        ...{ from: '', to: '', esmClass: intermediate ? 0x20 : 0x04, dataCoding: 0, body: Buffer.from(said, 'latin1') },
        ...(receiptedMessageId === undefined ? {} : { receiptedMessageId }),
        ...(messageState === undefined ? {} : { messageState }),
        ...(networkErrorCode === undefined ? {} : { networkErrorCode: Buffer.from(networkErrorCode, 'hex') }),
      };
      const dialect = new ReceiptDialect(found);
      const parsed = parseReceipt(deliver, found, dialect, context.clock.now());
      if (parsed === undefined)
        throw new Failure(
          'It has no message id, so it fits no message: the worker would only log it (`receipt_unreadable`). If the carrier sends the id as a TLV, add --receipted-message-id.',
        );
      const { part } = incomingReceipt(deliver, parsed, found, dialect) ?? {};
      const fields = {
        ids: parsed.ids.join(', '),
        'looked for as': candidateKeys(found, parsed.ids)
          .map(({ key }) => key.slice(name.length + 1))
          .join(', '),
        word: parsed.word === '' ? 'none' : parsed.word,
        means: meaningOf(parsed, found),
        'error code': part?.error ?? 'none',
        'error reason': part?.reason ?? 'none',
        'done at': parsed.doneAt?.toISOString() ?? 'not said',
        'kept text': parsed.excerpt,
      };
      return { text: sheet(fields), json: { ...parsed, errorReason: part?.reason } };
    },
  }),
];

const EFFECTS: Readonly<Record<ParsedReceipt['meaning'], string>> = {
  delivered: 'delivered',
  failed: 'failed',
  expired: 'expired',
  rejected: 'rejected',
  intermediate: 'intermediate: the message is still under way',
  hold: 'hold: the message fails later, unless a better receipt comes',
  ignore: 'ignore: it is kept for the timeline and changes nothing',
};

function meaningOf({ meaning, isKnown }: ParsedReceipt, { receipts }: CarrierDocument): string {
  if (isKnown) return EFFECTS[meaning];
  const { receiptProfile } = withDefaults(RECEIPTS, receipts);
  return `${EFFECTS[meaning]} (no table has this word; by the profile ${receiptProfile})`;
}
