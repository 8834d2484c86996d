/** Keys of attempts that are not accepted yet, by what they try to make. */
const open = new Map<string, string>();

interface Attempt {
  readonly key: string;
  /** The gateway accepted it: the next attempt is another one. */
  accepted<T>(answer: T): T;
}

/** The same attempt made again after a lost answer has the same key. */
export function newIdempotencyKey(path: string, body: object): Attempt {
  const what = `${path} ${JSON.stringify(body)}`;
  const key = open.get(what) ?? randomKey();
  open.set(what, key);
  return {
    key,
    accepted: (answer) => {
      open.delete(what);
      return answer;
    },
  };
}

/** `crypto.randomUUID` is missing on plain http. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
