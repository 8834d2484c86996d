import {
  CODE_GROUPS,
  explain,
  explainCounted,
  RECEIPT_REASONS,
} from '../../../../../gateway/endpoints/messages/explain/explain.ts';
import { statusClass, statusReason, statusText } from '../../../../../shared/carriers/command-status.ts';
import { errorRule } from '../../../../../shared/carriers/providers/graph-error.ts';
import { PROFILES } from '../../../../../shared/carriers/receipt-profiles.ts';

const CODES = new Set(CODE_GROUPS.flatMap(({ codes }) => codes.flatMap((entry) => entry.codes)));

describe('explain', () => {
  it('every command_status of the standard that refuses a message', () => {
    const unknown = statusReason(0xffff);
    const known = Array.from({ length: 0x100 }, (_, status) => status).filter(
      (status) => statusReason(status) !== unknown && statusClass(status) !== 'accepted',
    );

    expect(known.map(statusText).filter((code) => !CODES.has(code))).to.deep.equal([]);
  });

  it('every error of the chat-app provider', () => {
    const rules = Array.from({ length: 135_000 }, (_, code) => errorRule(code)?.code).filter(
      (code) => code !== undefined,
    );

    expect(rules).to.have.length.above(40);
    expect(rules.filter((code) => !CODES.has(code))).to.deep.equal([]);
  });

  it('every reason of the vocabularies', () => {
    const reasons = Object.values(PROFILES).flatMap(({ errors, reasons }) => Object.values({ ...errors, ...reasons }));

    const advised = new Set(RECEIPT_REASONS.map(({ reason }) => reason));
    expect(reasons.filter((reason) => !advised.has(reason))).to.deep.equal([]);
  });

  it('no code twice, and sentences that end', () => {
    const all = CODE_GROUPS.flatMap(({ codes }) => codes);

    expect(all.flatMap(({ codes }) => codes)).to.have.length(CODES.size);
    for (const { cause, advice } of all) {
      expect(cause).to.match(/\.$/);
      expect(advice).to.match(/\.$/);
    }
  });

  it('a number in a receipt means DLT only when the reason says so', () => {
    const dlt = explain({
      state: 'rejected',
      errorCode: '633',
      errorReason: 'DLT: the text does not match the template',
    });
    const other = explain({ state: 'rejected', errorCode: '633', errorReason: 'The number is blocked' });

    expect(dlt?.advice).to.include('exactly as it is registered');
    expect(other?.cause).to.equal('The number is blocked.');
    expect(other?.advice).to.equal('Ask your service provider for a route to this number.');
  });

  it('an unknown code by its state', () => {
    expect(explain({ state: 'failed', errorCode: '999' })?.cause).to.include('without a reason that we know');
    expect(explain({ state: 'expired' })?.cause).to.include('could not be reached');
  });

  it('a code that is counted: the number of a carrier is explained by its messages', () => {
    expect(explainCounted('0x0B').cause).to.equal('The carrier does not accept the number of the recipient.');
    expect(explainCounted('633').advice).to.include('Open one of the messages');
  });

  it('a receipt that says no more than the state, with the code that it gave', () => {
    const plain = explain({ state: 'failed', errorCode: '001', errorReason: 'Not delivered' });

    expect(plain?.cause).to.include('without a reason that we know. The carrier gave the code 001.');
    expect(explain({ state: 'expired', errorReason: 'Not delivered within its validity' })?.cause).to.equal(
      'The phone could not be reached until the validity of the message ended.',
    );
  });

  it('nothing where nothing is wrong', () => {
    for (const state of ['queued', 'submitting', 'sent', 'delivered', 'read', 'received'] as const) {
      expect(explain({ state })).to.equal(undefined);
    }
  });

  it('what is open', () => {
    expect(explain({ state: 'submitting', outcome: 'unknown' })?.advice).to.include('could arrive twice');
    expect(explain({ state: 'sent', closedReason: 'no_receipt' })?.cause).to.include('never told');
    expect(explain({ state: 'waiting' })?.cause).to.include('waits for the next');
  });
});
