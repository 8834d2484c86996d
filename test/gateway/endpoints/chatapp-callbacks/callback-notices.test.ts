import { findProvider } from '../../../../shared/carriers/providers/store.ts';
import { Metrics } from '../../../../shared/platform/runtime/metrics.ts';
import { callbackPost, textMessage } from '../../../support/chat-callback.ts';
import { makeProvider, NUMBER } from '../../../support/chatapp.ts';
import { openGateway, type TestGateway } from '../../../support/gateway.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { mergeParts, readAlone } from '../../../support/read-callback.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { callbackWorld, postSigned } from './callback-world.ts';

/** Bodies as Meta's webhooks reference shows them: `errors` of the field messages, account_update and its neighbours. */
const LIMITED = {
  code: 130429,
  title: 'Rate limit hit',
  message: '(#130429) Rate limit hit for 919876543210',
  error_data: { details: 'Message failed to send to 919876543210' },
};
const account = (field: string, value: object, id = '2055') => ({
  object: 'whatsapp_business_account',
  entry: [{ id, time: 1_763_719_190, changes: [{ field, value }] }],
});

describe('/chatapp/callback/{callback}: what the provider tells the operator', () => {
  const world = callbackWorld();
  const clock = new ManualClock(new Date());
  const told: object[] = [];
  const log = { ...silentLog, warn: (event: string, fields?: object) => void told.push({ event, ...fields }) };
  let metrics: Metrics;
  let watched: TestGateway;
  beforeEach(async () => {
    told.length = 0;
    metrics = new Metrics();
    watched = await openGateway(world.gateway.db, { log, clock, metrics });
    // An own business account: each one that has it would be told.
    await makeProvider(world.gateway.db, world.gateway.account, { businessId: world.gateway.account });
  });
  afterEach(() => watched.close());

  const post = (body: object) => postSigned(watched.url + world.path, body);
  const update = (field: string, value: object) => post(account(field, value, world.gateway.account));
  const counted = async () => {
    const metric = await metrics.registry.getSingleMetric('harkara_chatapp_callback_items_total')?.get();
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.fate, value]) ?? []);
  };

  it('warns of errors that concern no message, beside the messages of the post', async () => {
    const answer = await post(callbackPost({ errors: [LIMITED], messages: [textMessage('wamid.A')] }));

    expect(answer.status).to.equal(200);
    expect(told).to.deep.equal([
      {
        event: 'provider_notice',
        account: world.gateway.account,
        field: 'messages',
        code: 130429,
        title: 'Rate limit hit',
      },
    ]);
    expect(await world.itemsOf()).to.have.lengthOf(1);
    expect(await counted()).to.include({ kept: 1, notice: 1, other: 0 });
  });

  it('warns of what becomes of the business account, each thing once a minute', async () => {
    const ban = { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'SCHEDULE_FOR_DISABLE' } };
    const flagged = { display_phone_number: '15550783881', event: 'FLAGGED', current_limit: 'TIER_10K' };

    for (const value of [ban, ban]) await update('account_update', value);
    await update('phone_number_quality_update', flagged);
    clock.turn(60_000);
    await update('account_update', ban);

    const banned = { field: 'account_update', kind: 'DISABLED_UPDATE', detail: 'SCHEDULE_FOR_DISABLE' };
    const quality = {
      field: 'phone_number_quality_update',
      kind: 'FLAGGED',
      detail: 'TIER_10K',
      number: '15550783881',
    };
    expect(told).to.deep.equal(
      [banned, quality, banned].map((notice) => ({
        event: 'provider_notice',
        account: world.gateway.account,
        ...notice,
      })),
    );
    expect(await counted()).to.include({ notice: 4, other: 0 });
  });

  it('keeps the volume tiers that the business account has reached, by market and category', async () => {
    const reached = (tier: string, region = 'INDIA') => ({
      event: 'VOLUME_BASED_PRICING_TIER_UPDATE',
      volume_tier_info: {
        ...{ tier_update_time: 1_743_451_903, pricing_category: 'UTILITY', tier, effective_month: '2026-11', region },
      },
    });

    for (const value of [reached('1:25000000'), reached('1:50000', 'BRAZIL'), reached('25000001:50000000')])
      await update('account_update', value);

    const { gateway } = world;
    const provider = await findProvider(gateway.db, NUMBER);
    expect(provider?.tiers?.map(({ at, ...tier }) => tier)).to.deep.equal([
      { category: 'UTILITY', region: 'BRAZIL', tier: '1:50000', month: '2026-11' },
      { category: 'UTILITY', region: 'INDIA', tier: '25000001:50000000', month: '2026-11' },
    ]);
    expect(provider).not.to.have.property('notice');
  });

  const alert = { alert_severity: 'WARNING', alert_type: 'INCREASED_CAPABILITIES_ELIGIBILITY_DEFERRED' };
  const changes: readonly [string, object, object][] = [
    ['account_alerts', { entity_type: 'BUSINESS', alert_info: alert }, { kind: alert.alert_type, detail: 'WARNING' }],
    ['account_alerts', { entity_type: 'WABA', ...alert }, { kind: alert.alert_type, detail: 'WARNING' }],
    ['account_review_update', { decision: 'REJECTED' }, { kind: 'REJECTED' }],
    ['account_update', { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SCAM' } }, { detail: 'SCAM' }],
    [
      'account_update',
      {
        event: 'ACCOUNT_RESTRICTION',
        restriction_info: [{ restriction_type: 'NO_NUMBERS' }, { restriction_type: 'NO_SENDS' }],
      },
      { kind: 'ACCOUNT_RESTRICTION', detail: 'NO_NUMBERS NO_SENDS' },
    ],
    ['business_capability_update', { max_daily_conversation_per_phone: 250 }, { detail: '250' }],
    ['business_capability_update', { max_daily_conversations_per_business: 'TIER_2K' }, { detail: 'TIER_2K' }],
    ['account_update', { event: ['no', 'word'] }, { field: 'account_update' }],
  ];
  for (const [field, value, notice] of changes) {
    it(`reads ${field} ${JSON.stringify(value)}`, async () => {
      const provider = { _id: NUMBER, account: world.gateway.account, phoneNumberId: '1055', businessId: '2055' };
      const { notices, items } = mergeParts(await readAlone(account(field, value), provider));

      expect(notices).to.have.lengthOf(1);
      expect(notices[0]?.notice).to.include({ field, ...notice });
      expect(notices[0]?.numbers).to.deep.equal([NUMBER]);
      expect(items).to.deep.equal([]);
    });
  }
});
