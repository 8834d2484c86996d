import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { importTemplateCsv, importTemplates } from '../../../../shared/templates/sms/import-csv.ts';
import {
  createTemplate,
  decideTemplate,
  findTemplate,
  listTemplates,
  readApproved,
  readVersion,
  TemplateExists,
} from '../../../../shared/templates/sms/store.ts';
import { type TemplateText, templateVersion } from '../../../../shared/templates/sms/template.ts';
import { useStore } from '../../../support/store.ts';
import { makeTemplate } from './make.ts';

const A = '1107160000000000001';
const B = '1107160000000000002';

describe('templates store', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(() => {
    account = newId('acc');
  });

  it('registers a template once per account, and finds it by its DLT id', async () => {
    const created = await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A, entityId: B }));
    const other = await createTemplate(store.db, systemClock, newId('acc'), makeTemplate({ dltId: A }));
    const again = await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A })).catch(
      (error: unknown) => error,
    );

    expect(again).to.be.instanceOf(TemplateExists);
    expect(await findTemplate(store.db, account, A)).to.deep.equal(created);
    expect(await findTemplate(store.db, other.account, A)).to.deep.equal(other);
    expect(await findTemplate(store.db, account, B)).to.equal(undefined);
  });

  it('lists the templates of one account by id, all or those of a status', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: B }));
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A, status: 'submitted' }));
    await createTemplate(store.db, systemClock, newId('acc'), makeTemplate({ dltId: A }));

    const ids = async (status?: 'approved' | 'submitted') =>
      (await listTemplates(store.db, account, status)).map((template) => template.dltId);

    expect(await ids()).to.deep.equal([A, B]);
    expect(await ids('approved')).to.deep.equal([B]);
    expect(await ids('submitted')).to.deep.equal([A]);
  });

  it('approves what was submitted, rejects what was approved, and says when nothing changed', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A, status: 'submitted' }));

    expect(await decideTemplate(store.db, systemClock, account, A, 'approved')).to.equal('decided');
    expect(await decideTemplate(store.db, systemClock, account, A, 'approved')).to.equal('unchanged');
    expect(await decideTemplate(store.db, systemClock, account, A, 'rejected', 'blacklisted')).to.equal('decided');
    expect(await findTemplate(store.db, account, A)).to.include({ status: 'rejected', reason: 'blacklisted' });
    expect(await decideTemplate(store.db, systemClock, account, A, 'approved')).to.equal('decided');
    expect(await findTemplate(store.db, account, A))
      .to.include({ status: 'approved' })
      .and.not.have.property('reason');
    expect(await decideTemplate(store.db, systemClock, account, B, 'approved')).to.equal('not_found');
    expect(await decideTemplate(store.db, systemClock, newId('acc'), A, 'rejected')).to.equal('not_found');
  });

  it('approves only what was read: text, senders, routes and the business', async () => {
    const { content, senders, routes } = makeTemplate();
    const own: TemplateText = { content, senders, routes };
    const read: TemplateText = { ...own, entityId: '1101160000000000001' };
    const make = (dltId: string, text: TemplateText) =>
      createTemplate(store.db, systemClock, account, makeTemplate({ dltId, status: 'submitted', ...text }));
    const approve = (dltId: string, text: TemplateText) =>
      decideTemplate(store.db, systemClock, account, dltId, 'approved', undefined, text);
    await make(A, read);
    await make(B, own);

    const others: readonly TemplateText[] = [
      own,
      { ...read, entityId: '1101160000000000002' },
      { ...read, content: 'Another text' },
      { ...read, senders: ['OTHERS'] },
      { ...read, routes: [] },
    ];
    for (const other of others) {
      expect(templateVersion(other)).not.to.equal(templateVersion(read));
      expect(await approve(A, other)).to.equal('changed');
    }
    expect(await approve(B, read)).to.equal('changed');
    expect(await approve(A, read)).to.equal('decided');
    expect(await approve(B, own)).to.equal('decided');
  });

  it('lets one of many decisions at the same time count', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A, status: 'submitted' }));

    const decisions = await Promise.all(
      Array.from({ length: 20 }, () => decideTemplate(store.db, systemClock, account, A, 'approved')),
    );

    expect(decisions.filter((decision) => decision === 'decided')).to.have.length(1);
  });

  it('reads what a sender may send on a route', async () => {
    const add = (dltId: string, overrides: Parameters<typeof makeTemplate>[0]) =>
      createTemplate(store.db, systemClock, account, makeTemplate({ dltId, ...overrides }));
    await add('1000000001', { senders: ['HARKRA', 'ACMEBK'] });
    await add('1000000002', { senders: ['ACMEBK'], routes: ['promotional', 'transactional'] });
    await add('1000000003', { senders: ['ACMEBK'], routes: ['promotional'] });
    await add('1000000004', { senders: ['ACMEBK'], status: 'submitted' });
    await add('1000000005', { senders: ['ACMEBK'], status: 'rejected' });

    const read = async (...asked: ['HARKRA' | 'ACMEBK', 'transactional'] | []) => {
      const ids: string[] = [];
      for await (const template of readApproved(store.db, account, ...asked)) ids.push(template.dltId);
      return ids.toSorted();
    };

    expect(await read('HARKRA', 'transactional')).to.deep.equal(['1000000001']);
    expect(await read('ACMEBK', 'transactional')).to.deep.equal(['1000000001', '1000000002']);
    expect(await read()).to.deep.equal(['1000000001', '1000000002', '1000000003']);
  });

  it('imports thousands, leaves what is there as it is, and may be repeated', async () => {
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: '1000000007', name: 'kept' }));
    const given = Array.from({ length: 1_201 }, (_, i) => makeTemplate({ dltId: String(1_000_000_000 + i) }));

    const first = await importTemplates(store.db, systemClock, account, given);
    const second = await importTemplates(store.db, systemClock, account, given);

    expect(first.created).to.have.length(1_200);
    expect(first.known).to.deep.equal(['1000000007']);
    expect(second.created).to.deep.equal([]);
    expect(second.known).to.have.length(1_201);
    expect((await findTemplate(store.db, account, '1000000007'))?.name).to.equal('kept');
    expect(await listTemplates(store.db, account)).to.have.length(1_201);
  });

  it('raises the version of the account by every change, and only by a change', async () => {
    const versions: number[] = [];
    const note = async () => versions.push(await readVersion(store.db, account));
    await note();
    await createTemplate(store.db, systemClock, account, makeTemplate({ dltId: A, status: 'submitted' }));
    await note();
    await decideTemplate(store.db, systemClock, account, A, 'approved');
    await note();
    await decideTemplate(store.db, systemClock, account, A, 'approved');
    await note();
    await importTemplates(store.db, systemClock, account, [makeTemplate({ dltId: B })]);
    await note();

    expect(versions).to.deep.equal([0, 1, 2, 2, 3]);
  });

  it('imports nothing of a file with a bad row, unless told to skip it', async () => {
    const csv = `id,header,content\n${A},HARKRA,Hi {#var#}\nx,HARKRA,Hi\n`;

    const refused = await importTemplateCsv(store.db, systemClock, { _id: account }, Buffer.from(csv));
    expect(refused).to.have.property('kind', 'refused');
    expect(await listTemplates(store.db, account)).to.deep.equal([]);

    const imported = await importTemplateCsv(store.db, systemClock, { _id: account }, Buffer.from(csv), {
      skipBad: true,
    });
    expect(imported).to.deep.include({ kind: 'imported', created: [A], known: [] });
    expect(imported.kind === 'imported' && imported.problems.map(({ line }) => line)).to.deep.equal([3]);
    expect(await findTemplate(store.db, account, A)).to.include({ content: 'Hi {#var#}', status: 'approved' });
  });
});
