import { expect } from 'chai';
import { type Command, defineCommand, UsageError } from '../../../scripts/ops/command.ts';
import { helpForAll, helpForOne } from '../../../scripts/ops/help.ts';
import {
  accountId,
  choice,
  day,
  flag,
  instant,
  integer,
  list,
  name,
  optional,
  type Parameter,
  required,
  withDefault,
} from '../../../scripts/ops/parameters.ts';
import { readWords } from '../../../scripts/ops/read-words.ts';

const ACCOUNT = 'acc_01kamzz0000000000000000000';

const commands: readonly Command[] = [
  defineCommand({
    noun: 'thing',
    verb: 'create',
    about: 'Creates a thing.',
    args: { account: required(accountId, 'the account'), amount: required(integer('AMOUNT', 1, 10), 'how many') },
    options: {
      name: required(name, 'what people call it'),
      color: withDefault(choice(['red', 'blue']), 'red', 'its color'),
      routes: withDefault(list('ROUTES', ['a', 'b']), 'a,b', 'its routes'),
      expiresAt: optional(instant, 'its end'),
      lastDay: optional(day, 'its last day'),
      loud: flag('make a noise'),
    },
    run: async () => ({ text: '', json: null }),
  }),
  defineCommand({
    noun: 'thing',
    verb: 'list',
    about: 'Shows things.',
    args: {},
    options: {},
    run: async () => ({ text: '', json: null }),
  }),
  defineCommand({
    noun: 'alone',
    verb: '',
    about: 'Has no verb.',
    args: {},
    options: {},
    run: async () => ({ text: '', json: null }),
  }),
];

describe('words of npm run ops', () => {
  it('become the values that the command declares, defaults included', () => {
    const request = readWords(commands, ['thing', 'create', ACCOUNT, '3', '--name', ' Shop ', '--loud', '--json']);

    expect(request).to.include({ kind: 'run', json: true });
    expect(request.kind === 'run' && request.values).to.deep.equal({
      account: ACCOUNT,
      amount: 3,
      name: 'Shop',
      color: 'red',
      routes: ['a', 'b'],
      expiresAt: undefined,
      lastDay: undefined,
      loud: true,
    });
  });

  it('the word help is a value where one stands, and asks for help only alone', () => {
    const request = readWords(commands, ['thing', 'create', ACCOUNT, '3', '--name', 'help']);

    expect(request.kind === 'run' && request.values.name).to.equal('help');
    for (const tail of [['help'], ['--help'], ['-h'], [ACCOUNT, '3', '--help']]) {
      expect(readWords(commands, ['thing', 'create', ...tail]), tail.join(' ')).to.include({ kind: 'help' });
    }
  });

  it('refuses an option that is given twice, in either form', () => {
    const twice = ['thing', 'create', ACCOUNT, '3', '--name', 'A', '--name=B', '--loud', '--loud'];

    expect(() => readWords(commands, twice))
      .to.throw(UsageError, '--name is given more than once: give it once.')
      .with.property('message')
      .that.includes('--loud is given more than once');
  });

  it('a command without a verb takes its options at once', () => {
    expect(readWords(commands, ['alone', '--json'])).to.include({ kind: 'run', json: true });
  });

  it('a negative number stands at the end, after --', () => {
    const debt = defineCommand({
      ...{ noun: 'debt', verb: 'set', about: 'Sets a debt.' },
      args: { amount: required(integer('AMOUNT', -100, 100), 'how much') },
      options: { loud: flag('make a noise') },
      run: async () => ({ text: '', json: null }),
    });

    const read = readWords([debt], ['debt', 'set', '--loud', '--', '-100']);

    expect(read.kind === 'run' && read.values).to.deep.equal({ amount: -100, loud: true });
  });

  const wrong: readonly [what: string, words: string, says: string][] = [
    ['an unknown noun', 'thng list', 'There is no "thng": say thing or alone.'],
    ['an unknown verb', 'thing make', 'There is no "thing make": say create or list.'],
    ['an unknown option', 'thing list --colour red', "Unknown option '--colour'"],
    ['a negative number', `thing create ${ACCOUNT} -12 --name x`, 'Give a negative number at the end, after --, like'],
    [
      'a value with a dash',
      `thing create ${ACCOUNT} 3 --name -x`,
      "a dash use '--name=-XYZ'. See `npm run ops -- thing create",
    ],
    ['a word too many', 'thing list more', '"more" is one word too many.'],
    [
      'a missing argument',
      `thing create ${ACCOUNT} --name x`,
      '<amount> is missing: how many (a whole number from 1 to 10)',
    ],
    ['a missing option', `thing create ${ACCOUNT} 3`, '--name is missing: what people call it'],
    ['a bad account', 'thing create shop 3 --name x', '<account> must be an account id like acc_01kam…'],
    [
      'a control character in a name',
      `thing create ${ACCOUNT} 3 --name a\x01b`,
      'without control characters, not "a\\u0001b".',
    ],
    ['a bad number', `thing create ${ACCOUNT} 11 --name x`, '<amount> must be a whole number from 1 to 10, not "11".'],
    ['a fraction', `thing create ${ACCOUNT} 1.5 --name x`, '<amount> must be a whole number from 1 to 10'],
    ['a bad choice', `thing create ${ACCOUNT} 3 --name x --color green`, '--color must be red or blue, not "green".'],
    ['a bad list', `thing create ${ACCOUNT} 3 --name x --routes a,c`, '--routes must be one or more of a, b'],
    [
      'a time without offset',
      `thing create ${ACCOUNT} 3 --name x --expires-at 2027-01-01T00:00`,
      '--expires-at must be',
    ],
    [
      'a day that does not exist',
      `thing create ${ACCOUNT} 3 --name x --last-day 2027-02-30`,
      '--last-day must be a day',
    ],
  ];
  for (const [what, words, says] of wrong) {
    it(`${what} is told in one sentence`, () => {
      expect(() => readWords(commands, words.split(' ')))
        .to.throw(UsageError)
        .with.property('message')
        .that.includes(says);
    });
  }

  it('all that is wrong is told at once', () => {
    const read = () => readWords(commands, ['thing', 'create', 'shop', 'many']);

    expect(read).to.throw(UsageError, /<account> must be[\s\S]*<amount> must be[\s\S]*--name is missing/);
  });

  it('--help is understood at every level', () => {
    expect(readWords(commands, [])).to.deep.equal({ kind: 'help' });
    expect(readWords(commands, ['--help'])).to.deep.equal({ kind: 'help' });
    expect(readWords(commands, ['thing'])).to.deep.equal({ kind: 'help', noun: 'thing' });
    expect(readWords(commands, ['thing', '--help'])).to.deep.equal({ kind: 'help', noun: 'thing' });
    expect(readWords(commands, ['thing', 'create', '--help'])).to.include({ kind: 'help', command: commands[0] });
  });

  it('an option with many words does not push the others to the right', () => {
    const command = commands[0] as Command; // defined above
    const value = 'one|'.repeat(50);
    const options = { ...command.options, wide: { ...(command.options.color as Parameter<unknown>), value } };
    const line = (lines: string, option: string): string | undefined =>
      lines.split('\n').find((one) => one.includes(option));
    const wide = helpForOne({ ...command, options });

    expect(line(wide, '--loud')).to.equal(line(helpForOne(command), '--loud'));
    expect(line(wide, '--wide')).to.equal(`  --wide ${value}`);
  });

  it('help shows which arguments may be left out', () => {
    const command = defineCommand({
      ...{ noun: 'thing', verb: 'move', about: 'Moves a thing.', options: {} },
      args: { amount: required(integer('AMOUNT', 1, 10), 'how many'), to: optional(name, 'where') },
      run: async () => ({ text: '', json: null }),
    });

    expect(helpForAll([command])).to.include('thing move <amount> [<to>]');
    expect(helpForOne(command)).to.match(/^npm run ops -- thing move <amount> \[<to>\]\n/);
  });

  it('help names every command, argument and option', () => {
    const all = helpForAll(commands);
    const one = helpForOne(commands[0] as Command); // defined above

    expect(all).to.include('thing create <account> <amount> --name NAME').and.to.include('alone');
    expect(helpForAll(commands, 'thing')).not.to.include('alone');
    for (const word of [
      '<account>',
      '<amount>',
      '--name NAME',
      '--color red|blue',
      '--expires-at TIME',
      '--loud',
      '[red]',
    ]) {
      expect(one).to.include(word);
    }
  });
});
