import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { createKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';
import { openGatewayWithDashboard } from './world.ts';

const CUSTOMER = '919876543210';

describe('answers in a conversation of the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  before(async () => {
    await makeProvider(world.db, world.account);
  });

  it('a message is quoted, and reacted to; lists and places can be read', async () => {
    await wrote(world.db, world.account, { customer: CUSTOMER, body: 'Where is my parcel?' });
    const place = { type: 'location', location: { latitude: 12.5, longitude: 77.25, name: 'Home' } };
    await wrote(world.db, world.account, { customer: CUSTOMER, body: 'Home', message: place });
    const { key } = await createKey(world.db, systemClock, { account: world.account, name: 'k', scopes: ['send'] });
    const rows = [
      { id: '1', title: 'Express' },
      { id: '2', title: 'Post' },
    ];
    const answer = await fetch(`${world.dashboard.url}/v2/chatapp/send-interactive`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: CUSTOMER, type: 'list', body: 'How?', button: 'Choose', sections: [{ rows }] }),
    });
    expect(answer.status, await answer.text()).to.equal(200);
    const page = await world.dashboard.visit(
      `/dashboard/inbox/${CUSTOMER}`,
      await signedIn(world.db, 'owner', world.account),
    );
    const bubble = (text: string) => page.locator('.bubble').filter({ hasText: text }).first();
    await bubble('Express').waitFor();
    expect(await bubble('Home (12.5, 77.25)').count()).to.equal(1);
    expect(await world.dashboard.look(page, 'conversation-answers')).to.deep.equal([]);

    await bubble('Where is my parcel?').getByRole('button', { name: 'Quote' }).click();
    await page.getByLabel('Your answer').fill('At the depot.');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.locator('.bubble.out .quoted').filter({ hasText: 'Where is my parcel?' }).waitFor();
    await bubble('Where is my parcel?').getByRole('button', { name: 'React with 👍' }).click();

    await eventually(async () => {
      const sent = await world.db
        .collection<ChatMessageDocument>('messages')
        .find({ account: world.account, direction: 'out' })
        .sort({ _id: -1 })
        .limit(2)
        .toArray();
      const [reaction, reply] = sent;
      return reaction?.content.kind === 'reaction' && reaction.content.emoji === '👍' && reply?.replyTo !== undefined;
    }, 'both are stored');
  });
});
