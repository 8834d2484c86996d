import { initialOf } from '../../../../gateway/dashboard/client/frame/initial.ts';

describe('dashboard: the initial of a name', () => {
  const names: readonly (readonly [string, string])[] = [
    ['asha', 'A'],
    ['élan', 'É'],
    ['e\u0301lan', 'E\u0301'],
    ['😀 Asha', '😀'],
    ['👩‍💻 Asha', '👩‍💻'],
    ['निशा', 'नि'],
    ['', ''],
  ];
  for (const [name, initial] of names) {
    it(`of "${name}" is "${initial}"`, () => {
      expect(initialOf(name)).to.equal(initial);
    });
  }
});
