import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addNumber } from '../../shared/carriers/numbers/store.ts';
import type { InboundSmsDocument } from '../../shared/messages/document/any-message.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { debianProgram, perlModule } from '../support/debian.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld, type World } from '../support/smpp-world.ts';

describe('the product and handsets behind a carrier made of Net::SMPP', () => {
  let perl: ChildProcess;
  let world: World;
  const lines: string[] = [];
  before(() => perlModule('Net::SMPP', 'libnet-smpp-perl'));
  after(async () => {
    await world?.close();
    perl?.kill();
  });

  it('each message is received once: in every coding, in parts, and sent again after it hung up', async () => {
    perl = spawn(await debianProgram('perl', 'perl'), [join(import.meta.dirname, 'net-smpp-phones.pl')], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    if (perl.stdout === null) throw new Error('no output of perl');
    createInterface({ input: perl.stdout }).on('line', (line) => lines.push(line));
    const port = await eventually(() => Number(/^port (\d+)$/.exec(lines[0] ?? '')?.[1] ?? 0), 'perl listens');
    world = await openWorld({ carrier: { port } });
    await addNumber(world.db, systemClock, { number: '919000000001', keyword: '', account: world.account });

    const answers = (): string[] => lines.filter((line) => line.startsWith('answer '));
    await eventually(() => answers().length === 10, 'all are answered');
    const ended = once(perl, 'close'); // With its last lines.
    await world.worker.stop();
    await ended;

    const received = await world.db.collection<InboundSmsDocument>('messages').find({ direction: 'in' }).toArray();
    const again = [1, 2, 3, 4, 5].map((n) => `again ${n}`);
    expect(received.map(({ inbound }) => inbound.body).sort()).to.deep.equal(
      ['Hello €', 'déjà vu', 'नम', 'first second', ...again].sort(),
    );
    expect(new Set(answers())).to.deep.equal(new Set(['answer 80000005 0']));
    expect(lines.at(-1)).to.equal('unbound');
  });
});
