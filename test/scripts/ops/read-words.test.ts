import {
  accountId,
  type Command,
  choice,
  defineCommand,
  flag,
  instant,
  integer,
  list,
  name,
  optional,
  type Parameter,
  required,
  UsageError,
  withDefault,
  words,
} from '../../../scripts/ops/command.ts';
import { readWords } from '../../../scripts/ops/read-words.ts';

const ACCOUNT = 'acc_01kamzz0000000000000000000';

function help(of: readonly Command[], ...words: string[]): string {
  const request = readWords(of, words);
  return request.kind === 'help' ? request.text : expect.fail(`${words.join(' ')} runs a command`);
}

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
      lastDay: optional(words('DAY', 'a day', /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)$/), 'its last day'),
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
      expect(help(commands, 'thing', 'create', ...tail), tail.join(' ')).to.include('Creates a thing.');
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

  it('a negative number is an argument, also after --, where any word is one', () => {
    const debt = defineCommand({
      ...{ noun: 'debt', verb: 'set', about: 'Sets a debt.' },
      args: { amount: required(integer('AMOUNT', -100, 100), 'how much'), why: optional(name, 'why') },
      options: { loud: flag('make a noise') },
      run: async () => ({ text: '', json: null }),
    });
    const read = (...words: string[]) => {
      const request = readWords([debt], ['debt', 'set', ...words]);
      return request.kind === 'run' && request.values;
    };

    expect(read('-100', '--loud')).to.deep.equal({ amount: -100, why: undefined, loud: true });
    expect(read('--loud', '--', '-100', '--loud')).to.deep.equal({ amount: -100, why: '--loud', loud: true });
    expect(read('--', '-100')).to.deep.equal({ amount: -100, why: undefined, loud: false });
  });

  const wrong: readonly [what: string, words: string, says: string][] = [
    ['an unknown noun', 'thng list', "unknown command 'thng'\n(Did you mean thing?)\nSee `npm run ops -- --help`."],
    ['an unknown verb', 'thing lst', "unknown command 'lst'\n(Did you mean list?)\nSee `npm run ops -- thing --help`."],
    ['help of an unknown noun', 'thng --help', "unknown command 'thng'"],
    ['help of an unknown verb', 'thing make --help', "unknown command 'make'"],
    [
      'an unknown option',
      `thing create ${ACCOUNT} 3 --name x --colour red`,
      "unknown option '--colour'\n(Did you mean --color?)\nSee `npm run ops -- thing create --help`.",
    ],
    [
      'an unknown option, without its value',
      "thing list --pasword=it's",
      "unknown option '--pasword'\nSee `npm run ops -- thing",
    ],
    ['an option without its value', `thing create ${ACCOUNT} 3 --name`, "option '--name <NAME>' argument missing"],
    [
      'a negative number',
      `thing create ${ACCOUNT} -12 --name x`,
      '<amount> must be a whole number from 1 to 10, not "-12".',
    ],
    [
      'a value with a dash',
      `thing create ${ACCOUNT} 3 --name -x`,
      '--name has no value. If it is -x, which begins with a dash, give --name=-x.\nSee `npm run ops -- thing create',
    ],
    ['a word too many', 'thing list more', 'Expected 0 arguments but got 1'],
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

  it('a value may begin with a dash after =', () => {
    const request = readWords(commands, ['thing', 'create', ACCOUNT, '3', '--name=-x']);

    expect(request.kind === 'run' && request.values.name).to.equal('-x');
  });

  it('--help is understood at every level', () => {
    const all = help(commands, '--help');
    const ofThing = help(commands, 'thing', '--help');

    expect(help(commands)).to.equal(all);
    expect(help(commands, 'help')).to.equal(all);
    expect(help(commands, 'thing')).to.equal(ofThing).and.not.to.equal(all);
    expect(help(commands, 'thing', 'create', '--help')).not.to.equal(ofThing);
  });

  it('an option with many words does not push the others to the right', () => {
    const command = commands[0] as Command; // defined above
    const value = 'one|'.repeat(50);
    const options = { ...command.options, wide: { ...(command.options.color as Parameter<unknown>), value } };
    const line = (lines: string, option: string): string | undefined =>
      lines.split('\n').find((one) => one.includes(option));
    const wide = help([{ ...command, options }], 'thing', 'create', '--help');

    expect(line(wide, '--loud')).to.equal(line(help(commands, 'thing', 'create', '--help'), '--loud'));
    expect(line(wide, '--wide')).to.equal(`  --wide <${value}>`);
  });

  it('help shows which arguments may be left out', () => {
    const command = defineCommand({
      ...{ noun: 'thing', verb: 'move', about: 'Moves a thing.', options: {} },
      args: { amount: required(integer('AMOUNT', 1, 10), 'how many'), to: optional(name, 'where') },
      run: async () => ({ text: '', json: null }),
    });

    expect(help([command], 'thing')).to.include('  move <amount> [to] ');
    expect(help([command], 'thing', 'move', '--help')).to.match(/^Usage: npm run ops -- thing move <amount> \[to\]\n/);
  });

  it('help names every command, argument and option', () => {
    const all = help(commands);
    const one = help(commands, 'thing', 'create', '--help');

    expect(all)
      .to.match(/^ {2}thing +create, list$/m)
      .and.to.match(/^ {2}alone /m);
    expect(help(commands, 'thing')).to.include('create <account> <amount> --name <NAME>').and.not.to.include('alone');
    for (const word of [
      '<account>',
      '<amount>',
      '--name <NAME>',
      '--color <red|blue>',
      '--expires-at <TIME>',
      '--loud',
      '[red]',
    ]) {
      expect(one).to.include(word);
    }
  });
});
