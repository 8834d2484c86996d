import { signal } from '@preact/signals';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { AUTOMATIC, get } from '../api/http.ts';
import { FieldFrame, type FieldFrameProps } from './field.tsx';
import type { UrlFilter } from './list.tsx';
import { Icon } from './value.tsx';

interface Named {
  readonly account_id: string;
  readonly name: string;
}

const PATH = '/v2/admin/accounts';
/** Most ids in one request. */
const IDS_MAX = 100;
const GATHER_MS = 20;

const names = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();
let wanted: string[] = [];

/** Batched with the other names on the page and cached while the tab lives. Undefined until known. */
function useAccountName(id: string): string | undefined {
  const name = names.value.get(id);
  useEffect(() => {
    if (name !== undefined || !id.startsWith('acc_') || asked.has(id)) return;
    asked.add(id);
    if (wanted.push(id) === 1) setTimeout(askNames, GATHER_MS);
  }, [id, name]);
  return name;
}

async function askNames(): Promise<void> {
  const ids = wanted.slice(0, IDS_MAX);
  wanted = wanted.slice(IDS_MAX);
  if (wanted.length > 0) setTimeout(askNames, GATHER_MS);
  try {
    note(
      (await get<{ data: readonly Named[] }>(PATH, { ids: ids.join(), limit: IDS_MAX }, { headers: AUTOMATIC })).data,
    );
  } catch {
    // Ids are shown instead; the next page asks again.
    for (const id of ids) asked.delete(id);
  }
}

function note(accounts: readonly Named[]): void {
  names.value = new Map([...names.value, ...accounts.map(({ account_id, name }) => [account_id, name] as const)]);
}

export function AccountLink({ id }: { readonly id: string }) {
  return (
    <a href={`/dashboard/admin/accounts/${id}`} title={id}>
      <AccountName id={id} />
    </a>
  );
}

function AccountName({ id }: { readonly id: string }) {
  return <>{useAccountName(id) ?? id}</>;
}

interface AccountInputProps {
  /** The chosen account's id, or an empty text. */
  readonly value: string;
  readonly onPick: (id: string) => void;
  readonly more?: object;
}

const ID = /^acc_[0-9a-hjkmnp-tv-z]{26}$/;
const TYPED_MS = 150;
const OFFERED = 20;

/** Finds an account by part of its name, or its id. While the text matches none, none is chosen. */
function AccountInput({ value, onPick, more = {} }: AccountInputProps) {
  const list = useId();
  const name = useAccountName(value);
  const [typed, setTyped] = useState<string>();
  const [found, setFound] = useState<readonly Named[]>([]);
  const shown = typed ?? (value === '' ? '' : (name ?? value));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const search = async (text: string) => {
    const { data } = await get<{ data: readonly Named[] }>(PATH, { search: text.trim(), limit: OFFERED });
    note(data);
    setFound(data);
    return data;
  };
  const pick = (id: string) => {
    setTyped(undefined);
    if (id !== value) onPick(id);
  };
  const type = (text: string) => {
    clearTimeout(timer.current);
    const chosen = ID.test(text.trim()) ? text.trim() : idOf(text, found);
    if (chosen !== undefined) return pick(chosen);
    setTyped(text);
    if (value !== '') onPick('');
    const look = async () => {
      const now = idOf(text, await search(text).catch(() => []));
      if (now !== undefined) pick(now);
    };
    timer.current = setTimeout(look, TYPED_MS);
  };
  /** On blur: accepts an id or an unambiguous part of a name. */
  const settle = async () => {
    if (typed === undefined || typed.trim() === '') return setTyped(undefined);
    clearTimeout(timer.current);
    const [only, other] = await search(typed).catch(() => []);
    if (only !== undefined && other === undefined) pick(only.account_id);
  };
  return (
    <>
      <input
        {...more}
        type="search"
        list={list}
        value={shown}
        autoComplete="off"
        spellcheck={false}
        placeholder="Name or id"
        onFocus={() => found.length === 0 && search('').catch(() => undefined)}
        onInput={(event) => type(event.currentTarget.value)}
        onChange={settle}
      />
      <datalist id={list}>
        {found.map((one) => (
          <option key={one.account_id} value={wordsOf(one, found)} />
        ))}
      </datalist>
    </>
  );
}

function idOf(text: string, among: readonly Named[]): string | undefined {
  return among.find((one) => wordsOf(one, among) === text.trim())?.account_id;
}

/** Adds the id where several accounts have the same name. */
function wordsOf({ name, account_id }: Named, among: readonly Named[]): string {
  return among.filter((one) => one.name === name).length > 1 ? `${name} ${account_id}` : name;
}

interface AccountFieldProps extends FieldFrameProps {
  readonly initial?: string;
}

/** The form's value is the id. */
export function AccountField({ initial = '', ...frame }: AccountFieldProps) {
  const [id, setId] = useState(initial);
  return (
    <FieldFrame
      {...frame}
      input={({ name, ...described }) => (
        <>
          <AccountInput value={id} onPick={setId} more={described} />
          <input type="hidden" name={name} value={id} />
        </>
      )}
    />
  );
}

interface AccountsFieldProps extends FieldFrameProps {
  readonly initial: readonly string[];
}

/** The form's value is the ids with commas. */
export function AccountsField({ initial, ...frame }: AccountsFieldProps) {
  const [ids, setIds] = useState(initial);
  return (
    <FieldFrame
      {...frame}
      input={({ name, ...described }) => (
        <>
          {ids.length > 0 && (
            <ul class="chips">
              {ids.map((id) => (
                <li key={id}>
                  <AccountName id={id} />
                  <button type="button" onClick={() => setIds(ids.filter((one) => one !== id))}>
                    <Icon name="close" />
                    <span class="hidden">
                      Take out <AccountName id={id} />
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          )}
          <AccountInput
            key={ids.length} // Clears the input after each choice.
            value=""
            onPick={(id) => id !== '' && !ids.includes(id) && setIds([...ids, id])}
            more={described}
          />
          <input type="hidden" name={name} value={ids.join()} />
        </>
      )}
    />
  );
}

interface FilterAccountProps<Name extends string> {
  readonly filter: UrlFilter<Name | 'account_id'>;
}

export function FilterAccount<Name extends string>({ filter }: FilterAccountProps<Name>) {
  const id = useId();
  const set = (account: string) => filter.set({ account_id: account } as Partial<Record<Name | 'account_id', string>>); // the type of a generic member is not inferred
  return (
    <div class="filter">
      <label for={id}>Account</label>
      <AccountInput value={filter.values.account_id} onPick={set} more={{ id }} />
    </div>
  );
}
