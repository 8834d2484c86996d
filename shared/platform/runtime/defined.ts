/** Leaves out undefined fields: `{ ...defined({ reference, sender }) }`. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) kept[name] = value;
  return kept as Defined<T>; // none of its fields is undefined
}

type Defined<T> = {
  -readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name];
} & {
  -readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};
