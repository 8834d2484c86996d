import { parseLargeJson, TooLargeError } from '../../../../shared/platform/runtime/large-json.ts';

const parse = (text: string): Promise<unknown> => parseLargeJson(Buffer.from(text));
const failure = (text: string): Promise<unknown> =>
  parse(text).then(
    (value) => value,
    (error: unknown) => error,
  );
/** Long enough to be parsed in several slices. */
const LONG = Array.from({ length: 20_000 }, (_, i) => `9190000${i}`);
const LONG_JSON = JSON.stringify(LONG);

describe('large JSON in slices', () => {
  for (const [what, text] of [
    ['a long list', `{"to":${LONG_JSON},"message":"hi"}`],
    [
      'two of them, with blanks',
      ` {\n "to" : ${LONG_JSON} , "x": {"y":[1,[2]]}, "b": ${JSON.stringify(LONG, null, 1)}\t}\n`,
    ],
    [
      'a list of objects that hold lists',
      JSON.stringify({ r: LONG.map((to) => ({ to, params: ['a', ']', '"},{"'] })) }),
    ],
    ['strings with brackets, commas and escapes', JSON.stringify({ to: LONG.map((_, i) => `,[]{}"\\${i}\\"`) })],
    ['characters of several bytes', JSON.stringify({ to: LONG.map((to) => `नमस्ते 😀 ${to}`) })],
    ['the same name twice', `{"to":${LONG_JSON},"to":[1]}`],
    ['the same name twice, the long one last', `{"to":[1],"to":${LONG_JSON}}`],
    ['a list at the top', `[${LONG_JSON},2]`],
    ['a list deeper down', `{"a":{"b":${JSON.stringify(LONG.slice(0, 2000))}}}`],
    ['numbers, null and booleans', `{"to":[${Array.from({ length: 20_000 }, () => '1e3,null,true,-0.5').join()}]}`],
    ['a small object', '{"a":[],"b":[[]],"c":"x"}'],
  ] as const) {
    it(`is what JSON.parse says: ${what}`, async () => {
      const value = await parse(text);

      const whole: unknown = JSON.parse(text);
      if (Array.isArray(whole)) expect(value).to.be.an('array');
      else expect(value).to.deep.equal(whole);
    });
  }

  it('takes "__proto__" as a name like any other', async () => {
    const value = await parse(`{"__proto__":${LONG_JSON}}`);

    expect(Object.keys(Object(value))).to.deep.equal(['__proto__']);
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
  });

  for (const [what, text] of [
    ['a comma at the end of a long list', `{"to":${LONG_JSON.slice(0, -1)},]}`],
    ['two commas in a long list', `{"to":${LONG_JSON.slice(0, -1)},,1]}`],
    ['a comma at its beginning', `{"to":[,${LONG_JSON.slice(1)}}`],
    ['brackets that do not match', `{"to":${LONG_JSON.slice(0, -1)}}}`],
    ['brackets that do not match inside', `{"to":[${LONG_JSON.slice(1, -1)},[1}]}`],
    ['a list that does not end', `{"to":${LONG_JSON.slice(0, -1)}`],
    ['a string that does not end', `{"to":${LONG_JSON.slice(0, -2)}]}`],
    ['something behind the end', `{"to":${LONG_JSON}} x`],
    ['two values in one place', `{"to":${LONG_JSON} ${LONG_JSON}}`],
    ['nothing but a bracket', '['.repeat(64)],
    ['closing brackets only', ']'.repeat(1_000)],
  ] as const) {
    it(`is a SyntaxError: ${what}`, async () => {
      const error = await failure(text);

      expect(error).to.satisfy((one: unknown) => one instanceof SyntaxError || one instanceof TooLargeError);
    });
  }

  it('says in which part a mistake is, because positions count from its beginning', async () => {
    const start = `{"to":${LONG_JSON.slice(0, -1)},`;
    const list = `${start}"9190 x" 5]}`;

    const error = await failure(list);

    const { position, byte } =
      /position (?<position>\d+).*begins at byte (?<byte>\d+)/.exec(String(error))?.groups ?? {};
    // The part begins with a bracket.
    expect(Number(byte) + Number(position) - 1).to.equal(start.length + '"9190 x" '.length);
  });

  it('says of a mistake beside the lists that they are left out there', async () => {
    expect(String(await failure(`{"to":${LONG_JSON},}`))).to.match(/where each long list is shown as a short text$/);
  });

  for (const [what, text] of [
    ['one entry', `{"to":[${LONG_JSON},${LONG_JSON}]}`],
    ['a text beside the lists', `{"to":${LONG_JSON},"message":"${'x'.repeat(200_000)}"}`],
    ['an object', `{"to":{"a":${LONG_JSON}}}`],
    ['brackets, closed or not', '['.repeat(200_000)],
    ['a deep entry', `{"to":[${'['.repeat(70)}${']'.repeat(70)},${LONG_JSON.slice(1)}}`],
    ['half a million and one values', `{"to":[${'1,'.repeat(500_000)}1]}`],
  ] as const) {
    it(`refuses what cannot be parsed in slices: ${what}`, async () => {
      expect(await failure(text)).to.be.instanceOf(TooLargeError);
    });
  }

  it('lets others have their turn', async () => {
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    await parse(`{"to":${JSON.stringify(Array.from({ length: 200_000 }, (_, i) => `9190000${i}`))}}`);
    clearInterval(count);

    expect(turns).to.be.above(3);
  });
});
