import type { PaidConversation } from '../../../../shared/money/accounts/account.ts';
import {
  type ConversationDocument,
  conversationKey,
  isSessionOpen,
  sessionUntil,
} from '../../../../shared/money/conversations/conversation.ts';
import { type ChatOrder, type ChatState, decideChats } from '../../../../shared/money/conversations/decide.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES } from '../../../support/chat.ts';
import { NUMBER } from '../../../support/chatapp.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const CUSTOMER = '919876543210';
const HOUR_MS = 3_600_000;
const ago = (hours: number): Date => new Date(NOW.getTime() - hours * HOUR_MS);

describe('conversations/session', () => {
  it('runs for 24 hours from the last message of the customer, the last moment not included', () => {
    const lastInboundAt = ago(24);

    expect(isSessionOpen({ lastInboundAt: new Date(lastInboundAt.getTime() + 1) }, NOW)).to.equal(true);
    expect(isSessionOpen({ lastInboundAt }, NOW)).to.equal(false);
    expect(sessionUntil({ lastInboundAt })).to.deep.equal(NOW);
    expect(isSessionOpen({}, NOW)).to.equal(false);
    expect(sessionUntil(undefined)).to.equal(undefined);
  });
});

describe('conversations/decide', () => {
  const account = newId('acc');
  const order = (overrides: Partial<ChatOrder> = {}): ChatOrder => ({
    _id: newId('msg'),
    to: CUSTOMER,
    from: NUMBER,
    content: { kind: 'template', name: 'hello', language: 'en', params: [] },
    caps: [],
    ...overrides,
  });
  const opening = (number: number, openedAt: Date, customer = CUSTOMER): PaidConversation => ({
    id: newId('cnv'),
    number,
    by: 'business',
    credits: 2,
    opener: newId('msg'),
    group: newId('grp'),
    openedAt,
    until: new Date(openedAt.getTime() + 24 * HOUR_MS),
    customer,
  });
  const state = (
    overrides: Partial<NonNullable<ChatState['account']>> = {},
    document?: Partial<ConversationDocument>,
  ): ChatState => {
    const key = conversationKey(account, CUSTOMER);
    return {
      account: { _id: account, status: 'active', balance: 10, expiryDate: '2099-12-31', ...overrides },
      conversations: new Map(
        document === undefined ? [] : [[key, { _id: key, account, customer: CUSTOMER, ...document }]],
      ),
    };
  };
  const kinds = (orders: readonly ChatOrder[], given: ChatState) =>
    decideChats(orders, given, NOW, CHAT_PRICES).map((one) => one.kind);

  it('lets the first message to a customer open and the others go in it, and numbers openings on', () => {
    const other = '919876543211';
    const [first, second, third] = decideChats(
      [order(), order(), order({ to: other })],
      state({ chats: 7 }),
      NOW,
      CHAT_PRICES,
    );

    if (first?.kind !== 'open' || second?.kind !== 'included' || third?.kind !== 'open') throw new Error('other kinds');
    expect(second.conversation).to.equal(first.opening);
    expect([first.opening.number, third.opening.number]).to.deep.equal([8, 9]);
    expect(first.opening).to.deep.include({ by: 'business', credits: 2, openedAt: NOW, until: ago(-24) });
  });

  it('asks less of a conversation that the customer started', () => {
    const [opened] = decideChats([order()], state({}, { lastInboundAt: ago(1) }), NOW, CHAT_PRICES);

    if (opened?.kind !== 'open') throw new Error('another kind');
    expect(opened.opening).to.include({ by: 'user', credits: 1 });
  });

  it('opens as many as the balance pays for, in order', () => {
    const orders = ['1', '2', '3'].map((n) => order({ to: `91987654321${n}` }));

    const decisions = decideChats(orders, state({ balance: 5 }), NOW, CHAT_PRICES);

    expect(decisions.map(({ kind }) => kind)).to.deep.equal(['open', 'open', 'insufficient_credits']);
    expect(decisions[2]).to.deep.equal({ kind: 'insufficient_credits', balance: 1, required: 2 });
  });

  const current = (hours: number) => {
    const { customer: _, ...one } = opening(3, ago(hours));
    return one;
  };
  const x = opening(4, ago(1));
  const rows: readonly [string, ChatState, string][] = [
    ['one that its document names', state({}, { current: current(23), openings: 3 }), 'included'],
    [
      'one that is paid for when no credits are left',
      state({ balance: 0 }, { current: current(23), openings: 3 }),
      'included',
    ],
    ['none that is over', state({}, { current: current(24), openings: 3 }), 'open'],
    ['one that only the account knows yet', state({ opening: { [x.group]: x } }), 'included'],
    [
      'one that the account still has, when its document knows better',
      state({ opening: { [x.group]: x } }, { openings: 4 }),
      'open',
    ],
    [
      'one that was given back before it was written',
      state({ opening: { [x.group]: x } }, { refunded: [x.id] }),
      'open',
    ],
    ['none of another customer', state({ opening: { g: opening(4, ago(1), '919876543299') } }), 'open'],
  ];
  for (const [what, given, kind] of rows) {
    it(`goes in ${what}: ${kind}`, () => {
      expect(kinds([order()], given)).to.deep.equal([kind]);
    });
  }

  it('says what stands in the way of everything first, of the session next, of the money last', () => {
    const text = order({ content: { kind: 'text', text: 'hi' } });

    expect(kinds([text], state({ status: 'suspended', balance: 0 }))).to.deep.equal(['account_suspended']);
    expect(kinds([text], state({ expiryDate: '2026-11-20', balance: 0 }))).to.deep.equal(['credits_expired']);
    expect(kinds([text], state({ balance: 0 }))).to.deep.equal(['session_closed']);
    expect(
      kinds([text], state({ balance: 0 }, { lastInboundAt: ago(1), sessions: { [NUMBER]: ago(1) } })),
    ).to.deep.equal(['insufficient_credits']);
    expect(kinds([order()], { ...state(), account: null })).to.deep.equal(['account_suspended']);
  });
});
