import { readCommand } from '../../../scripts/simulator/settings.ts';

function settings(argv: string[], environment: Record<string, string> = {}) {
  const command = readCommand(argv, environment);
  if (command.kind !== 'run') throw new Error(command.text);
  return command.settings;
}

describe('settings of the simulator', () => {
  it('have the documented defaults', () => {
    const { smsc, webhookPort, webhookSecrets, quiet } = settings([]);

    expect(smsc).include({
      port: 2775,
      receiptDelayMs: 500,
      ratePerSecond: Number.POSITIVE_INFINITY,
      idForm: 'hex',
      log: '',
    });
    expect({ webhookPort, webhookSecrets, quiet }).deep.equal({ webhookPort: 4010, webhookSecrets: [], quiet: false });
  });

  it('come from flags before the environment before the defaults', () => {
    const environment = {
      HARKARA_SIMULATOR_SMSC_PORT: '1',
      HARKARA_SIMULATOR_RATE: '5',
      HARKARA_SIMULATOR_WEBHOOK_SECRET: 'whsec_a,whsec_b',
      HARKARA_SIMULATOR_LOG: '',
    };

    const { smsc, webhookSecrets, quiet } = settings(['--smsc-port', '2', '--id-form=uuid', '--quiet'], environment);

    expect(smsc).include({ port: 2, ratePerSecond: 5, idForm: 'uuid', receiptDelayMs: 500 });
    expect({ webhookSecrets, quiet }).deep.equal({ webhookSecrets: ['whsec_a', 'whsec_b'], quiet: true });
  });

  for (const [argv, sentence] of [
    [['--rate', 'fast'], '--rate must be a whole number from 0'],
    [['--smsc-port', '70000'], '--smsc-port must be a whole number from 0 to 65535, not "70000"'],
    [
      ['--id-form', 'roman'],
      '--id-form must be one of hex, decimal, uuid, hex-decimal, mixed-upper, mixed-lower, not "roman"',
    ],
    [['--nonsense'], "Unknown option '--nonsense'"],
  ] as const) {
    it(`say in a sentence what is wrong with ${argv.join(' ')}`, () => {
      const command = readCommand(argv, {});

      expect(command.kind).equal('wrong');
      expect(command.kind === 'wrong' && command.text).include(sentence);
    });
  }

  it('are all named by --help', () => {
    const command = readCommand(['--help'], {});

    expect(command.kind === 'help' && command.text)
      .include('--receipt-delay')
      .and.include('HARKARA_SIMULATOR_');
  });
});
