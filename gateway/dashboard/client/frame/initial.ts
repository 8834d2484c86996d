/** The first character of a name as people count: an emoji or a letter with its signs whole. Firefox has `Segmenter` from 125 on. */
export function initialOf(name: string): string {
  const whole = 'Segmenter' in Intl ? [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment) : [...name];
  return (whole[0] ?? '').toUpperCase();
}
