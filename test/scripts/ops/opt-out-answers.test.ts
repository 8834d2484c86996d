import type { AuditDocument } from '../../../shared/people/audit.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

describe('npm run ops opt-out words: answers', () => {
  const world = use(() => OpsWorld.open({ HARKARA_MESSAGE_MAX_SEGMENTS: '2' }));

  const set = (account: string, ...words: string[]) => world.run(['opt-out', 'words', account, ...words]);

  it('are shown with their segments, replaced and taken away, and are in the audit', async () => {
    const account = await world.newAccount();
    const made = await world.json(['opt-out', 'words', account, '--stop-answer', 'No more messages of Shop.']);
    await set(account, '--help-answer', '您好');
    await set(account, '--number', '56161', '--stop-answer', 'none');

    expect(made.stop_answer).to.equal('No more messages of Shop.');
    expect((await set(account)).out).to.include('No more messages of Shop. (1 segment, GSM7)');
    expect((await set(account)).out).to.match(/start_answer +-\nhelp_answer +您好 \(1 segment, UCS2\)/);
    expect((await set(account, '--number', '56161')).out).to.match(/stop_answer +none/);
    const entries = await world.store.db
      .collection<AuditDocument>('audit')
      .find({ account: account as never, 'subject.id': `${account}:*` })
      .sort({ _id: 1 })
      .toArray();
    expect(entries.map(({ action, outcome }) => [action, outcome])[0]).to.deep.equal(['opt-out.words', 'done']);
    expect(entries[0]?.before).to.equal(undefined);
    expect(entries[0]?.after).to.deep.include({ stopAnswer: { text: 'No more messages of Shop.' } });
  });

  it('are for programs as they were given: lists, texts, null for one that is turned off, nothing for one not set', async () => {
    const account = await world.newAccount();
    await set(account, '--out', 'band karo,roko', '--languages', 'en,fr', '--in', 'none');
    await set(account, '--stop-answer', 'Stopped.', '--help-answer', 'none');

    expect(await world.json(['opt-out', 'words', account])).to.deep.equal({
      account,
      number: 'all',
      languages: ['en', 'fr'],
      out: ['band karo', 'roko'],
      in: [],
      stop_answer: 'Stopped.',
      help_answer: null,
    });
  });

  it('a word that would mean two things is refused: nobody could opt in again by START', async () => {
    const account = await world.newAccount();
    await set(account, '--out', 'roko');

    for (const words of [
      ['--out', 'Start'],
      ['--in', 'STOP'],
      ['--help-words', 'roko'],
      ['--in', 'ja', '--help-words', 'Ja!'],
    ]) {
      const { code, err } = await set(account, ...words);
      expect(code, words.join(' ')).to.equal(1);
      expect(err).to.match(/^Not set\. A word has one meaning, .*: (start|stop|roko|ja)\.\n$/);
    }
    expect(await set(account, '--languages', 'none', '--out', 'start')).to.include({ code: 0 });
    expect(await world.json(['opt-out', 'words', account])).to.deep.include({ languages: [], out: ['start'] });
    // A number inherits unset values from the account.
    expect((await set(account, '--number', '56767', '--in', 'start')).err).to.include(
      'two of STOP, START and HELP: start.',
    );
    // Set by an earlier version, which refused nothing.
    await world.store.db
      .collection<{ account: string }>('opt_out_words')
      .updateOne({ account }, { $set: { in: ['start'] } });
    expect(await world.json(['opt-out', 'words', account])).to.deep.include({ out: ['start'], in: ['start'] });
  });

  it('that could never be sent, or that a machine would answer, are refused', async () => {
    const account = await world.newAccount();

    expect((await set(account, '--stop-answer', 'x'.repeat(307))).err).to.include('needs 3 segments (GSM7); at most 2');
    expect((await set(account, '--help-answer', 'Help!')).err).to.include('is a word of customers');
    expect((await set(account, '--help-answer', ' ')).err).to.include('must be a readable text');
    expect((await set(account)).out).to.match(/help_answer +-/);
  });

  it('under DLT need a number and an approved template of it', async () => {
    const account = await world.newAccount();
    await world.json(`account update ${account} --dlt on --entity-id 1101234567890123456`);

    expect((await set(account, '--stop-answer', 'Stopped.')).err).to.include('Set it for each number, with --number');
    expect((await set(account, '--number', '56161', '--stop-answer', 'Stopped.')).err).to.match(
      /cannot be sent from 56161: .*registered/,
    );
    await world.json(`sender create ${account} 56161 --routes transactional`);
    const text = 'Stopped. No more messages.';
    const template = `template create ${account} 1107160000000000001 --senders 56161 --routes transactional`;
    await world.json([...template.split(' '), '--content', text]);

    expect((await set(account, '--number', '56161', '--stop-answer', 'Goodbye.')).err).to.include('cannot be sent');
    expect(await set(account, '--number', '56161', '--stop-answer', text)).to.include({ code: 0 });
    const stored = await world.store.db.collection('opt_out_words').findOne({ account: account as never });
    expect(stored?.stopAnswer).to.deep.equal({
      text,
      template: '1107160000000000001',
      entityId: '1101234567890123456',
    });
  });
});
