import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { runOps } from '../../../scripts/ops/run.ts';

describe('npm run ops, when a command fails', () => {
  it('says that the disk is full in one sentence, without a stack trace', async () => {
    const full = new MongoServerError({ message: 'the disk is full. Make room.', code: 14_031 });

    expect(await failing(full)).to.deep.equal({
      code: 1,
      err: 'The store cannot write: the disk is full. Make room.',
    });
  });

  it('shows where an error of this program was thrown', async () => {
    const { code, err } = await failing(new Error('a bug'));

    expect(code).to.equal(1);
    expect(err).to.match(/^Error: a bug\n +at /);
  });
});

async function failing(error: Error): Promise<{ readonly code: number; readonly err: string }> {
  let err = '';
  const terminal = { out: () => {}, err: (text: string) => (err += text) };
  const code = await runOps(['account', 'list'], terminal, () => {
    throw error;
  });
  return { code, err };
}
