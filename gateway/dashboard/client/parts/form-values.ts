import { fieldProblem } from '../api/problem.ts';

/** What a form holds, by the names of its fields. */
export class FormValues {
  readonly #data: FormData;

  constructor(form: HTMLFormElement) {
    this.#data = new FormData(form);
  }

  /** Without blanks at both ends; empty when nothing was entered. Passwords are read by `exact`. */
  text(name: string): string {
    return this.exact(name).trim();
  }

  exact(name: string): string {
    const value = this.#data.get(name);
    return typeof value === 'string' ? value : '';
  }

  /** Undefined when nothing was entered: the member is then left out of the request. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** Undefined when nothing was entered. Thousands may be apart by commas. Throws what the form shows at the field if it is no number. */
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === '' ? undefined : this.neededNumber(name);
  }

  /** The same of a field that may not be empty. */
  neededNumber(name: string): number {
    const number = Number(this.text(name).replaceAll(',', '') || Number.NaN);
    if (Number.isNaN(number)) throw fieldProblem({ field: name, code: 'wrong_type', detail: 'It must be a number.' });
    return number;
  }

  /** The ticked boxes of that name. */
  all(name: string): string[] {
    return this.#data.getAll(name).filter((value) => typeof value === 'string');
  }

  has(name: string): boolean {
    return this.#data.has(name);
  }

  /** The non-empty lines of a text area. */
  lines(name: string): string[] {
    return this.exact(name)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  }
}
