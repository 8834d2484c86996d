import type { ProviderTrouble } from '../../../shared/carriers/providers/provider.ts';
import { findProvider, noteTrouble, setProvider } from '../../../shared/carriers/providers/store.ts';
import type { BusinessNumber } from '../../../shared/messages/document/chat-message.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { listTrouble, sendTrouble } from '../../../workers/chatapp/provider/answer.ts';
import { TEST_BOX } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { graphError, json } from './provider-server.ts';
import { chatWorld, customers } from './world.ts';

describe('chatapp worker: what does not work is told', () => {
  const world = chatWorld();

  const troubles = async (number: BusinessNumber) => (await findProvider(world.store.db, number))?.troubles ?? {};
  const reasonOf = (trouble: ProviderTrouble | undefined) => trouble?.reason;

  it('a wrong business id, until the right one is set', async () => {
    const account = await world.openAccount();
    account.provider.listAnswer = (res) =>
      json(res, 404, graphError(100, 'Object with ID 919876543210 does not exist'));
    await world.startWorker();

    const told = await eventually(async () => (await troubles(account.number)).templates, 'the trouble');
    if (told === undefined) throw new Error('nothing was told');
    expect(told.reason).to.equal(
      'there is no such business id, or the access token may not see it (HTTP 404, code 100)',
    );
    expect(clock.now().getTime() - told.at.getTime()).to.be.within(0, 60_000);
    // When the worker serves this new account, it has read all providers again.
    const later = await world.openAccount();
    await eventually(() => later.provider.lists.length > 0, 'a line for an account that was added later');
    await world.queue(account, {});
    await world.allIn(account, 'sent', 1);
    expect(account.provider.lists, 'what is noted does not begin the line anew').to.have.length(1);

    account.provider.listAnswer = undefined;
    await setProvider(world.store.db, clock, TEST_BOX, account.id, account.number, { businessId: '2067' });
    expect(await troubles(account.number)).to.deep.equal({});
    await eventually(() => account.provider.lists.length >= 2, 'the list is asked for again');
    expect(await troubles(account.number)).to.deep.equal({});
  });

  it('a provider that is not there, by its templates and by its sends', async () => {
    const account = await world.openAccount();
    await account.provider.close();
    await world.queue(account, ...customers(10).map((to) => ({ to })));
    await world.startWorker();

    await eventually(async () => {
      const { templates, sends } = await troubles(account.number);
      return templates !== undefined && sends !== undefined;
    }, 'both troubles');

    const { templates, sends } = await troubles(account.number);
    expect(reasonOf(templates)).to.equal('no connection to the provider (ECONNREFUSED)');
    expect(reasonOf(sends)).to.equal('no connection to the provider (ECONNREFUSED)');
  });

  it('is forgotten when it works, whoever met it', async () => {
    const account = await world.openAccount();
    const met = { at: new Date(), reason: 'no connection to the provider (ECONNREFUSED)' };
    for (const duty of ['templates', 'sends'] as const) await noteTrouble(world.store.db, account.number, duty, met);
    await world.startWorker();
    await world.queue(account, {});

    await eventually(async () => Object.keys(await troubles(account.number)).length === 0, 'nothing is noted any more');
  });

  const LISTS: readonly (readonly [number, object, string])[] = [
    [401, graphError(190), 'the access token is refused (HTTP 401, code 190)'],
    [401, {}, 'the access token is refused (HTTP 401, code none)'],
    [403, graphError(10), "the access token may not read this business's templates (HTTP 403, code 10)"],
    [400, graphError(200), "the access token may not read this business's templates (HTTP 400, code 200)"],
    [400, graphError(100), 'there is no such business id, or the access token may not see it (HTTP 400, code 100)'],
    [404, {}, 'there is no such business id, or the address is not that of the API (HTTP 404, code none)'],
    [302, {}, 'there is no such business id, or the address is not that of the API (HTTP 302, code none)'],
    [429, graphError(80_007), 'the provider asks for fewer requests (HTTP 429, code 80007)'],
    [503, {}, 'the provider has an internal error (HTTP 503, code none)'],
    [400, graphError(1), 'the provider refuses the list of templates (HTTP 400, code 1)'],
  ];
  for (const [status, body, words] of LISTS) {
    it(`in words: ${words}`, () => {
      expect(listTrouble({ kind: 'answered', status, body: Buffer.from(JSON.stringify(body)) })).to.equal(words);
    });
  }

  it('in words: what became of sends; never what the provider says, which may quote numbers', () => {
    expect(listTrouble({ kind: 'not_sent', code: 'ENOTFOUND' })).to.equal('no connection to the provider (ENOTFOUND)');
    expect(sendTrouble({ kind: 'unknown', code: 'timeout' })).to.equal('no whole answer from the provider (timeout)');
    expect(
      sendTrouble({ kind: 'retry', code: 'provider_unavailable', reason: '(131016) 919876543210 is away' }),
    ).to.equal('the provider answers provider_unavailable');
    expect(sendTrouble({ kind: 'refuse', code: 'undeliverable', reason: '(131026)' })).to.equal(undefined);
    expect(sendTrouble({ kind: 'accepted', upstreamId: 'wamid.1' })).to.equal(undefined);
  });
});
