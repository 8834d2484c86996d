/** The first character of a name as people count: an emoji or a letter with its signs whole. Firefox has `Segmenter` from 125 on. */
export function initialOf(name: string): string {
  if (!('Segmenter' in Intl)) return ([...name][0] ?? '').toUpperCase();
  const [first] = new Intl.Segmenter().segment(name);
  return (first?.segment ?? '').toUpperCase();
}
